"""What the protocol's conformance suite asks for by name: tools, resources and prompts with fixed answers."""

import base64
import time
from typing import Annotated, Any

from knapper import Context, Doc, Domain, Image, ToolError, hookimpl
from knapper.context import Embedded

suite = Domain("conformance", summary="Fixtures of the conformance suite.")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=")
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def form(message: str, schema: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return "elicitation/create", {"message": message, "requestedSchema": schema}


def sample(text: str, most: int = 100) -> tuple[str, dict[str, Any]]:
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return "sampling/createMessage", {"messages": [message], "maxTokens": most}


def ask(ctx: Context, **requests: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    assert ctx.client is not None
    return ctx.client.ask(requests)


def content(answer: Any) -> dict[str, Any]:
    """What a person filled in; anything that is not a form is asked for again, as the suite wants it."""
    found = answer.get("content") if isinstance(answer, dict) else None
    return found if isinstance(found, dict) else {}


@suite.tool(vault=False)
def test_simple_text(ctx: Context) -> str:
    """Answer with text."""
    return "This is a simple text response for testing."


@suite.tool(vault=False)
def test_image_content(ctx: Context) -> str:
    """Answer with a picture."""
    ctx.attach(Image(data=PNG, mime="image/png"))
    return "a picture"


@suite.tool(vault=False)
def test_audio_content(ctx: Context) -> str:
    """Answer with a sound."""
    ctx.attach(Image(data=WAV, mime="audio/wav"))
    return "a sound"


@suite.tool(vault=False)
def test_embedded_resource(ctx: Context) -> str:
    """Answer with a resource."""
    ctx.attach(Embedded("test://embedded-resource", "This is an embedded resource content."))
    return "a resource"


@suite.tool(vault=False)
def test_multiple_content_types(ctx: Context) -> str:
    """Answer with text, a picture and a resource."""
    ctx.attach(Image(data=PNG, mime="image/png"))
    ctx.attach(Embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"))
    return "Multiple content types test:"


@suite.tool(vault=False)
def test_tool_with_logging(ctx: Context) -> str:
    """Log while it works."""
    for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        ctx.log("info", text)
        time.sleep(0.05)
    return "logged"


@suite.tool(vault=False)
def test_logging_tool(ctx: Context) -> str:
    """Log once."""
    ctx.log("info", "logged")
    return "logged"


@suite.tool(vault=False)
def test_tool_with_progress(ctx: Context) -> str:
    """Say how far it is."""
    for done in (0, 50, 100):
        ctx.progress(done, 100)
        time.sleep(0.05)
    return "done"


@suite.tool(vault=False)
def test_error_handling(ctx: Context) -> str:
    """Fail."""
    raise ToolError("invalid_input", "This tool intentionally returns an error for testing")


@suite.tool(vault=False)
def test_sampling(ctx: Context, prompt: str) -> str:
    """Ask the client's model."""
    return f"LLM response: {ask(ctx, answer=sample(prompt))['answer']['content']['text']}"


@suite.tool(vault=False)
def test_elicitation(ctx: Context, message: str) -> str:
    """Ask the person."""
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    schema = {"type": "object", "properties": fields, "required": ["username", "email"]}
    return f"User response: {ask(ctx, answer=form(message, schema))['answer']}"


@suite.tool(vault=False)
def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask with defaults."""
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    answer = ask(ctx, answer=form("Please review", {"type": "object", "properties": fields}))["answer"]
    return f"Elicitation completed: {answer}"


@suite.tool(vault=False)
def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask with every kind of choice."""
    plain = ["option1", "option2", "option3"]
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"}
        for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    named = ["Option One", "Option Two", "Option Three"]
    fields = {
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": named},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    answer = ask(ctx, answer=form("Please choose", {"type": "object", "properties": fields}))["answer"]
    return f"Elicitation completed: {answer}"


@suite.tool(vault=False)
def test_input_required_result_elicitation(ctx: Context) -> str:
    """Greet by name."""
    question = form("What is your name?", NAME)
    named = content(ask(ctx, user_name=question)["user_name"])
    if not isinstance(named.get("name"), str):
        raise ToolError("invalid_input", "that is no name")
    return f"Hello, {named['name']}!"


@suite.tool(vault=False)
def test_streaming_elicitation(ctx: Context) -> str:
    """Ask after a word on the way."""
    ctx.progress(1, 2)
    return f"Hello, {content(ask(ctx, user_name=form('What is your name?', NAME))['user_name']).get('name')}!"


@suite.tool(vault=False)
def test_input_required_result_sampling(ctx: Context) -> str:
    """Ask the client's model for a capital."""
    return str(ask(ctx, capital_question=sample("What is the capital of France?"))["capital_question"])


@suite.tool(vault=False)
def test_input_required_result_list_roots(ctx: Context) -> str:
    """Ask for the client's roots."""
    return str(ask(ctx, client_roots=("roots/list", {}))["client_roots"])


@suite.tool(vault=False)
def test_input_required_result_request_state(ctx: Context) -> str:
    """Ask for a yes, and carry a state."""
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    ask(ctx, confirm=form("Please confirm", schema))
    return "state-ok"


@suite.tool(vault=False)
def test_input_required_result_tampered_state(ctx: Context) -> str:
    """The same, for a client that changes the state."""
    return test_input_required_result_request_state(ctx)


@suite.tool(vault=False)
def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Ask three things at once."""
    asked = {
        "user_name": form("What is your name?", NAME),
        "greeting": sample("Generate a greeting", 50),
        "client_roots": ("roots/list", {}),
    }
    return f"got {sorted(ask(ctx, **asked))}"


@suite.tool(vault=False)
def test_input_required_result_multi_round(ctx: Context) -> str:
    """Ask one thing, then another."""
    colour = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
    name = content(ask(ctx, step1=form("Step 1: What is your name?", NAME))["step1"])
    chosen = content(ask(ctx, step2=form("Step 2: What is your favorite color?", colour))["step2"])
    return f"{name.get('name')} likes {chosen.get('color')}"


@suite.tool(vault=False)
def test_input_required_result_capabilities(ctx: Context) -> str:
    """Ask only for what the client can do."""
    assert ctx.client is not None
    asked = {
        "user_name": ("elicitation", form("What is your name?", NAME)),
        "greeting": ("sampling", sample("Generate a greeting", 50)),
        "client_roots": ("roots", ("roots/list", {})),
    }
    able = {key: request for key, (needs, request) in asked.items() if needs in ctx.client.capabilities}
    return f"got {sorted(ask(ctx, **able))}" if able else "nothing to ask"


@suite.tool(vault=False)
def test_missing_capability(ctx: Context) -> str:
    """Need sampling, whatever the client says."""
    return str(ask(ctx, answer=sample("Hello")))


Header = Annotated[str, Doc("Mirrored in a header.", extra_json_schema={"x-mcp-header": "Region"})]


@suite.tool(vault=False)
def test_custom_headers(ctx: Context, region: Header, query: str = "") -> str:  # noqa: PT028 (a tool)
    """Take an argument that a header repeats."""
    return f"{region}: {query}"


@suite.tool(vault=False)
def json_schema_2020_12_tool(ctx: Context, name: str = "") -> str:
    """Show a schema with everything in it."""
    return name


suite.tools["json_schema_2020_12_tool"].input_schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@suite.tool(vault=False)
def test_trigger_tool_change(ctx: Context) -> str:
    """Make the server say that its tools have changed."""
    ctx.server.reload()
    return "changed"


@suite.tool(vault=False)
def test_trigger_prompt_change(ctx: Context) -> str:
    """Make the server say that its prompts have changed."""
    ctx.server.reload()
    return "changed"


@suite.resource("test://static-text")
def static_text(ctx: Context) -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@suite.resource("test://static-binary", mime="image/png")
def static_binary(ctx: Context) -> bytes:
    """A picture that never changes."""
    return PNG


@suite.resource("test://template/{id}/data", mime="application/json")
def template_data(ctx: Context, id: str) -> str:
    """Data by number."""
    return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


@suite.resource("test://watched-resource")
def watched(ctx: Context) -> str:
    """A text that can be watched."""
    return "Watched resource content"


@suite.prompt()
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@suite.prompt(arg1="The first.", arg2="The second.")
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@suite.prompt(resourceUri="What to embed.")
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803 (the suite's name for it)
    """A prompt that embeds a resource."""
    embedded = Embedded(resourceUri, "Embedded resource content for testing.")
    return [embedded, "Please process the embedded resource above."]


@suite.prompt()
def test_prompt_with_image() -> list[Any]:
    """A prompt with a picture."""
    return [Image(data=PNG, mime="image/png"), "Please analyze the image above."]


@suite.prompt()
def test_input_required_result_prompt(ctx: Context) -> str:
    """A prompt that asks first."""
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    asked = ask(ctx, user_context=form("What context should the prompt use?", schema))
    return f"In the context of {content(asked['user_context']).get('context')}."


@hookimpl
def knapper_domains() -> Domain:
    """Hand the domain over."""
    return suite
