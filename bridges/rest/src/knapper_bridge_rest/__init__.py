"""The tools over plain HTTP under /bridge/v1, for programs that do not speak MCP."""

from knapper import Route, hookimpl


@hookimpl
def knapper_routes() -> list[Route]:
    """Hand the routes over; they answer 404 where `transports.http.bridge` is off."""
    from knapper_bridge_rest.routes import routes

    return routes()
