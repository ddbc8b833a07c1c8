"""How a vault counts its weeks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from knapper.vault.moment_locale import Week

if TYPE_CHECKING:
    from knapper.vault.door import Door

_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_LOCALES = {
    Week(0, 3): "gom-deva gom-latn",
    Week(0, 4): "ar-dz en-au es-mx",
    Week(0, 5): "dv",
    Week(
        0, 6
    ): "ar-sa bn bn-bd bo en en-ca en-il en-in es-us fr-ca gu he hi id ja kn ko lo ml mn mr ne pa-in pt-br si"
    " ta te th zh-hk zh-mo zh-tw",
    Week(0, 12): "ar-kw",
    Week(
        1, 4
    ): "af ar-ma ar-tn bm br ca cs cy da de de-at de-ch el en-gb en-ie en-nz en-sg es es-do et fi fil fo fr fr-ch"
    " fy ga gd gl hu is it it-ch km lb lt lv mi mt my nb nl nl-be nn oc-lnc pl pt ru sd se sk sq ss sv tet tl-ph tlh tzl ur"
    " vi yo zh-cn",
    Week(
        1, 7
    ): "az be bg bs cv eo eu hr hy-am jv ka kk ky me mk ms ms-my ro sl sr sr-cyrl sw tg tk tr ug-cn uk uz uz-latn",
    Week(6, 12): "ar fa ku tzm tzm-latn",
}
_WEEKS = {name: week for week, names in _LOCALES.items() for name in names.split()}


def week_of(door: Door) -> Week | None:
    """The week as the Calendar plugin is set to it, which rules all of Obsidian; None where it says nothing.

    Another first day leaves the locale's rule for the first week as it is, which is how the plugin does it.
    """
    found = door.plugin_settings("calendar")
    week, start = locale_week(found.get("localeOverride")), found.get("weekStart")
    if start not in _DAYS:
        return week
    return (week or Week())._replace(first_day=_DAYS.index(start))


def locale_week(name: Any) -> Week | None:
    """The week of a locale such as `de` or `en-GB`, else of its language; None for one that moment does not know."""
    parts = name.lower().replace("_", "-").split("-") if isinstance(name, str) else []
    return next(
        (_WEEKS[own] for end in range(len(parts), 0, -1) if (own := "-".join(parts[:end])) in _WEEKS), None
    )
