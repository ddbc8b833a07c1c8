"""The plugins: which failed and why, and whether what the configuration names is installed."""

from __future__ import annotations

from knapper.cli.checks.report import Check, Finding
from knapper.cli.checks.subject import Subject


def loaded(subject: Subject) -> Finding:
    found = Finding()
    _ = subject.registry  # asking them is what shows their failures
    for plugin in subject.plugins.all:
        found.details[plugin.name] = f"{plugin.distribution} {plugin.version}, {plugin.state}"
        if plugin.error:
            found.warn(
                f"{plugin.name} of {plugin.distribution or plugin.module} failed: {plugin.error}",
                "Upgrade or uninstall it, or list it in plugins.disabled; the server works without it.",
            )
        elif plugin.object is not None and not plugin.hooks:
            found.warn(f"{plugin.name} implements no hook", "Mark its functions with @hookimpl.")
    if subject.clash:
        found.fail(subject.clash, "Until then the server does not start.")
    if not subject.plugins.all:
        found.warn(
            "no plugin is installed, so there are no tools", "pip install knapper-notes, or all: knapper"
        )
    working = sum(plugin.state == "loaded" for plugin in subject.plugins.all)
    found.summary = f"{working} of {len(subject.plugins.all)} plugins work"
    return found


def chosen(subject: Subject) -> Finding:
    """A name in plugins.only or plugins.disabled that nothing has is a misspelling, or not installed."""
    found = Finding("the configured plugins are installed")
    if subject.settings is None:
        return found
    names = {plugin.name for plugin in subject.plugins.all}
    wanted = subject.settings.plugins
    for key, listed in (("only", wanted.only or []), ("disabled", wanted.disabled)):
        for name in listed:
            if name not in names:
                found.warn(f"plugins.{key} names {name!r}, which is not installed", "Correct or remove it.")
    return found


def embedder(subject: Subject) -> Finding:
    settings = subject.settings
    if settings is None or not settings.index.vectors:
        return Finding("vectors are off; text search needs none")
    name = settings.embeddings.provider
    provider = subject.registry.embedders.get(name) if subject.registry else None
    if provider is None:
        found = Finding("there is text search, but no search by meaning")
        found.warn(
            f"no installed plugin provides the embedder {name!r}",
            f"pip install knapper-embedder-{name}, or set index.vectors to false.",
        )
        return found
    found = Finding(
        f"vectors come from {name!r}", details={"texts leave the machine": "no" if provider.local else "yes"}
    )
    if subject.probe:
        model = provider.build(settings.embeddings)
        width = model.embed(["knapper"], query=True).shape[1]
        found.details["probe"] = f"{model.identity}, {width} dimensions"
    return found


CHECKS: dict[str, Check] = {
    "plugins.loaded": loaded,
    "plugins.chosen": chosen,
    "providers.registered": embedder,
}
