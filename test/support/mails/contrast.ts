/** Reads a compiled mail as a mail program does, in its light or dark colours, and measures the contrast of its text. */
import { Parser } from 'htmlparser2';

export interface TextColours {
  text: string;
  colour: string;
  background: string;
  /** The contrast ratio of WCAG 2.2, 1 to 21. */
  ratio: number;
}

interface Element {
  tag: string;
  attributes: Record<string, string>;
  colour: string;
  background: string;
}

interface Rule {
  /** From the outermost element to the one it is about. */
  path: string[];
  weight: number;
  declarations: Record<string, string>;
}

const HEX = /^#[0-9a-f]{6}$/;
const DARK = /@media \(prefers-color-scheme: dark\) \{\n([\s\S]*?)\n\}/;

/** Every stretch of visible text with its declared colours. Throws for a colour that is not six hexadecimal digits. */
export function textColours(html: string, scheme: 'light' | 'dark'): TextColours[] {
  const rules = scheme === 'dark' ? readRules(DARK.exec(html)?.[1] ?? '') : [];
  const open: Element[] = [{ tag: '', attributes: {}, colour: '#000000', background: '#ffffff' }];
  const found: TextColours[] = [];
  const parser = new Parser({
    onopentag(tag, attributes) {
      const parent = open.at(-1);
      if (!parent) throw new Error('more closed than opened');
      const element = { tag, attributes, colour: parent.colour, background: parent.background };
      open.push(element);
      paint(element, declarations(attributes.style ?? ''));
      for (const rule of rules) if (matches(rule.path, open)) paint(element, rule.declarations);
    },
    ontext(text) {
      const { colour, background } = open.at(-1) ?? {};
      const inBody = open.some(({ tag }) => tag === 'body');
      if (!inBody || !text.trim() || !colour || !background) return;
      found.push({ text: text.trim(), colour, background, ratio: contrast(colour, background) });
    },
    onclosetag() {
      open.pop();
    },
  });
  parser.end(html);
  return found;
}

function paint(element: Element, { color, background, 'background-color': plain }: Record<string, string>): void {
  for (const value of [color, background, plain]) {
    if (value !== undefined && !HEX.test(value)) throw new Error(`not a plain colour: ${value}`);
  }
  element.colour = color ?? element.colour;
  element.background = plain ?? background ?? element.background;
}

function declarations(style: string): Record<string, string> {
  const pairs = style.split(';').map((declaration) => declaration.split(':').map((part) => part.trim()));
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value.replace(/\s*!important$/, '')]));
}

// All are !important: the heavier wins, among equals the later.
function readRules(css: string): Rule[] {
  const rules = [...css.matchAll(/([^{}]+)\{([^}]*)\}/g)].flatMap(([, selectors = '', body = '']) =>
    selectors.split(',').map((selector) => {
      const path = selector.trim().split(/\s+/);
      const weight = path.reduce(
        (sum, step) => sum + 10 * (step.match(/[.[]/g)?.length ?? 0) + Number(/^\w/.test(step)),
        0,
      );
      return { path, weight, declarations: declarations(body) };
    }),
  );
  return rules.sort((a, b) => a.weight - b.weight);
}

function matches(path: string[], open: Element[]): boolean {
  const last = open.at(-1);
  if (!last || !fits(path.at(-1) ?? '', last)) return false;
  let depth = path.length - 2;
  for (let at = open.length - 2; at > 0 && depth >= 0; at--) {
    const element = open[at];
    if (element && fits(path[depth] ?? '', element)) depth--;
  }
  return depth < 0;
}

function fits(step: string, { tag, attributes }: Element): boolean {
  const [, name, className, attribute, value] = /^(\w*)(?:\.([\w-]+))?(?:\[(\w+)=(\w+)\])?$/.exec(step) ?? [];
  if (name === undefined) throw new Error(`a selector this reader does not know: ${step}`);
  if (name && name !== tag) return false;
  if (className && !attributes.class?.split(' ').includes(className)) return false;
  return !attribute || attributes[attribute] === value;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
