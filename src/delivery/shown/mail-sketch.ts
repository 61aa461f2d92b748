/**
 * Draws a small picture of a mail for lists: its images, headings, texts and buttons as coloured shapes. The picture is drawn from the
 * mail's code without compiling it and loads nothing, so that a list needs neither the mail's images nor a frame for each mail.
 */
import { Parser } from 'htmlparser2';
import { ContentError } from '../content/compiled-content.ts';
import { type MjmlNode, parseMjml } from '../content/mjml.ts';

/** The code of a mail. */
export interface SketchInput {
  /** MJML in JSON form; empty if the mail is written in HTML. */
  readonly json: string;
  readonly html: string;
}

/** A shape. `ratio` is the height of an image as a share of its width, `characters` the number of characters of a text. */
type Shape = { colour: string } & (
  | { kind: 'image'; ratio: number }
  | { kind: 'title' | 'text'; characters: number }
  | { kind: 'button' }
);

interface Row {
  background: string;
  columns: Shape[][];
}

const WIDTH = 96;
const HEIGHT = 120;
const MARGIN = 8;
const GAP = 5;
/** The maximum number of rows, and of shapes in a column, that are drawn. There is no room for more. */
const MAX_SHAPES = 20;
/** The maximum number of columns that are drawn. */
const MAX_COLUMNS = 4;
/** The number of characters of HTML that are read, because a sketch shows only the top of a mail. */
const MAX_HTML = 64 * 1024;
const WHITE = '#ffffff';
const INK = '#b9c2be';
const TITLE_COLOUR = '#7d8a85';
const IMAGE = '#9fc4b8';
const BUTTON = '#0b6b57';

/**
 * The boxes of each colour, as the data of an SVG path. All boxes of one colour are one path, so that a sketch has only some hundred bytes.
 */
type Boxes = Map<string, string>;

/** Returns the sketch as SVG, `WIDTH` wide and `HEIGHT` high. Code that cannot be read gives an empty sheet. */
export function sketchMail({ json, html }: SketchInput): string {
  const { background, rows } = json === '' ? ofHtml(html.slice(0, MAX_HTML)) : ofMjml(json);
  const [backgrounds, shapes]: [Boxes, Boxes] = [new Map(), new Map()];
  addBox(backgrounds, background, 0, 0, WIDTH, HEIGHT);
  let top = MARGIN;
  for (const row of rows.slice(0, MAX_SHAPES)) {
    if (top >= HEIGHT) break;
    const height = drawRow(shapes, row, top);
    if (row.background !== background) addBox(backgrounds, row.background, 0, top - GAP / 2, WIDTH, height);
    top += height;
  }
  const paths = [...backgrounds, ...shapes].map(([colour, path]) => `<path fill="${colour}" d="${path}"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}">${paths.join('')}</svg>`;
}

/** Adds the boxes of a row that begins at `top`. Returns its height. */
function drawRow(boxes: Boxes, { columns }: Row, top: number): number {
  const shown = columns.slice(0, MAX_COLUMNS);
  const width = (WIDTH - 2 * MARGIN - GAP * (shown.length - 1)) / Math.max(1, shown.length);
  const ends = shown.map((shapes, at) => {
    let y = top;
    for (const shape of shapes.slice(0, MAX_SHAPES)) {
      if (y >= HEIGHT) break;
      y = drawShape(boxes, shape, MARGIN + at * (width + GAP), y, width) + GAP;
    }
    return y;
  });
  return Math.max(top, ...ends) - top;
}

/** Adds the boxes of a shape. Returns where it ends. */
function drawShape(boxes: Boxes, shape: Shape, left: number, top: number, width: number): number {
  const { kind, colour } = shape;
  if (shape.kind === 'image' || shape.kind === 'button') {
    const [wide, high] =
      shape.kind === 'button' ? [Math.min(width, 34), 9] : [width, Math.max(6, Math.min(44, shape.ratio * width))];
    addBox(boxes, colour, left, top, wide, high);
    return top + high;
  }
  const { characters } = shape;
  const thick = kind === 'title' ? 5 : 2.5;
  // The approximate number of characters in a line of a mail of this width.
  const perLine = (width / (WIDTH - 2 * MARGIN)) * (kind === 'title' ? 30 : 65);
  const lines = Math.max(1, Math.min(kind === 'title' ? 2 : 6, Math.ceil(characters / perLine)));
  for (let line = 0; line < lines; line++) {
    const share = line < lines - 1 ? 1 : Math.max(0.25, Math.min(1, characters / perLine - line));
    addBox(boxes, colour, left, top + line * thick * 2, width * share, thick);
  }
  return top + (lines * 2 - 1) * thick;
}

function addBox(boxes: Boxes, colour: string, x: number, y: number, width: number, height: number): void {
  const [left, top, wide, high] = [x, y, width, height].map((value) => Math.round(value * 10) / 10);
  boxes.set(colour, `${boxes.get(colour) ?? ''}M${left} ${top}h${wide}v${high}h-${wide}z`);
}

/** Returns the value if it is a colour such as #1d5b46, else `otherwise`, so that no other text of the mail gets into the picture. */
function colourOf(value: string | undefined, otherwise: string): string {
  return value !== undefined && /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(value.trim()) ? value.trim() : otherwise;
}

interface Sketch {
  background: string;
  rows: Row[];
}

function ofMjml(json: string): Sketch {
  let root: MjmlNode;
  try {
    root = parseMjml(json);
  } catch (error) {
    if (error instanceof ContentError) return { background: WHITE, rows: [] };
    throw error;
  }
  const body = root.children?.find(({ tagName }) => tagName === 'mj-body');
  const background = colourOf(body?.attributes['background-color'], WHITE);
  return { background, rows: (body?.children ?? []).flatMap((part) => rowsOf(part, background)) };
}

function rowsOf(part: MjmlNode, around: string): Row[] {
  const background = colourOf(part.attributes['background-color'], around);
  const inner = part.children ?? [];
  switch (part.tagName) {
    case 'mj-wrapper':
      return inner.flatMap((section) => rowsOf(section, background));
    case 'mj-section': {
      const columns = inner.flatMap((child) => (child.tagName === 'mj-group' ? (child.children ?? []) : [child]));
      return [{ background, columns: columns.map((column) => (column.children ?? []).flatMap(shapesOf)) }];
    }
    case 'mj-hero':
      return [{ background, columns: [inner.flatMap(shapesOf)] }];
    case 'mj-raw':
      return ofHtml((part.content ?? '').slice(0, MAX_HTML)).rows;
    default:
      return [];
  }
}

/** The size from which a text counts as a heading, in pixels. */
const TITLE_SIZE = 20;
/** The width up to which an image counts as a logo, in pixels. */
const MAX_LOGO = 300;

function shapesOf({ tagName, attributes, content = '' }: MjmlNode): Shape[] {
  switch (tagName) {
    case 'mj-image': {
      const isLogo = Number.parseInt(attributes.width ?? '', 10) < MAX_LOGO;
      return [{ kind: 'image', ratio: isLogo ? 0.15 : 0.5, colour: IMAGE }];
    }
    case 'mj-button':
      return [{ kind: 'button', colour: colourOf(attributes['background-color'], BUTTON) }];
    case 'mj-text': {
      const characters = content.replaceAll(/<[^<>]*>/g, '').trim().length;
      const isTitle = Number.parseInt(attributes['font-size'] ?? '', 10) >= TITLE_SIZE || /<h[1-3][\s>]/i.test(content);
      return characters === 0
        ? []
        : [{ kind: isTitle ? 'title' : 'text', characters, colour: isTitle ? TITLE_COLOUR : INK }];
    }
    default:
      return [];
  }
}

const TITLE_TAGS = new Set(['h1', 'h2', 'h3']);
/** Elements whose end is the end of a text. */
const BLOCKS = new Set(['p', 'div', 'td', 'th', 'li', 'h1', 'h2', 'h3', 'h4', 'table', 'tr', 'section', 'body']);
const UNSEEN = new Set(['head', 'script', 'style', 'title']);

function ofHtml(html: string): Sketch {
  const shapes: Shape[] = [];
  let background = WHITE;
  /** The number of open elements that are not drawn. */
  let unseen = 0;
  let characters = 0;
  let isTitle = false;
  const endText = () => {
    if (characters > 0)
      shapes.push({ kind: isTitle ? 'title' : 'text', characters, colour: isTitle ? TITLE_COLOUR : INK });
    characters = 0;
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (UNSEEN.has(name)) unseen++;
      if (unseen > 0) return;
      const painted = /background(?:-color)?\s*:\s*(#[0-9a-f]{3,6})\b/i.exec(attributes.style ?? '')?.[1];
      if (name === 'body') background = colourOf(painted ?? attributes.bgcolor, background);
      if (name === 'img') {
        endText();
        const [wide, high] = [Number(attributes.width), Number(attributes.height)];
        if (wide === 1 || high === 1) return;
        shapes.push({ kind: 'image', ratio: wide > 0 && high > 0 ? high / wide : 0.5, colour: IMAGE });
      }
      if (name === 'a' && painted !== undefined) {
        endText();
        shapes.push({ kind: 'button', colour: colourOf(painted, BUTTON) });
        // The text of a button is not drawn.
        unseen++;
      }
      if (BLOCKS.has(name)) {
        endText();
        isTitle = TITLE_TAGS.has(name);
      }
    },
    ontext(text) {
      if (unseen === 0) characters += text.trim().length;
    },
    onclosetag(name) {
      if (UNSEEN.has(name) || (name === 'a' && unseen > 0)) unseen = Math.max(0, unseen - 1);
      if (!BLOCKS.has(name)) return;
      endText();
      isTitle = false;
    },
  });
  parser.end(html);
  endText();
  return { background, rows: shapes.map((shape) => ({ background, columns: [[shape]] })) };
}
