// Dataview's values from recordings: {"$date"}, {"$dur"}, {"$link"}, {"$widget"} become objects as Dataview has them.
class Moment {
  isLuxonDateTime = true;

  constructor(iso) {
    this.iso = iso;
    const [, hour, minute, second, millisecond] = /T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?/.exec(iso) ?? [0, 0, 0, 0, 0];
    Object.assign(this, { hour: +hour, minute: +minute, second: +second, millisecond: +(millisecond ?? 0) });
  }

  toISODate() {
    return this.iso.slice(0, 10);
  }

  toISO({ suppressMilliseconds = false } = {}) {
    return this.millisecond || suppressMilliseconds ? this.iso : this.iso.replace(/(T\d\d:\d\d:\d\d)/, "$1.000");
  }
}

const SMALLER = [
  ["days", "hours", 24],
  ["hours", "minutes", 60],
  ["minutes", "seconds", 60],
];

/** Recorded durations have each unit below its limit already, but may have fractions of one. */
class Span {
  isLuxonDuration = true;

  constructor(parts) {
    this.parts = parts;
  }

  shiftToAll() {
    const parts = { years: 0, days: 0, hours: 0, minutes: 0, seconds: 0, ...this.parts };
    for (const [unit, smaller, ratio] of SMALLER) {
      const fraction = parts[unit] % 1;
      parts[unit] -= fraction;
      parts[smaller] += fraction * ratio;
    }
    return new Span(parts);
  }

  normalize() {
    return this;
  }

  toObject() {
    return { ...this.parts };
  }
}

class Link {
  constructor(parts) {
    Object.assign(this, parts);
  }

  markdown() {
    const place = this.subpath === undefined || this.type === "file" ? "" : (this.type === "header" ? "#" : "#^") + this.subpath;
    const title = this.path.split("/").pop().replace(/\.md$/, "");
    const shown = this.display ?? (place ? `${title} > ${this.subpath}` : title);
    return `${this.embed ? "!" : ""}[[${(this.path + place).replaceAll("|", "\\|")}|${shown}]]`;
  }
}

/** Dataview's own kind of array, which is no Array. */
export class DataArray {
  constructor(values) {
    this.values = values;
  }

  array() {
    return this.values;
  }
}

export function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (value === null || typeof value !== "object") return value;
  if ("$date" in value) return new Moment(value.$date);
  if ("$dur" in value) return new Span(value.$dur);
  if ("$link" in value) return new Link(value.$link);
  if ("$number" in value) return Number(value.$number);
  if ("$array" in value) return new DataArray(value.$array.map(revived));
  if ("$function" in value) return () => undefined;
  if ("$html" in value) return { outerHTML: `<b>${value.$html}</b>`, textContent: value.$html };
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revived(inner)]));
}
