/** The account's image library in the designer: the dialog that asks for a picture and its alternative text, and adding pictures. */
import { scaledDown } from '../../../../../ui/islands/parts/scaled-down.ts';
import { type Answer, ask, call, element, inLanguage, type Picture, problemOf, say } from './page.ts';

/** A picture in the mail. */
interface PlacedPicture {
  src: string;
  alt: string;
  /** True if the picture is decorative and therefore has no alternative text. */
  isDecoration: boolean;
  /** The link of the picture; empty if it has none. */
  href: string;
}

/** How long the dialog for an image waits for the library before it opens without it. */
const LIBRARY_TIMEOUT_MS = 20_000;

const path = `${location.pathname}/pictures`;
/** The newest pictures of the library; null until they are first needed. */
let library: Promise<Picture[]> | null = null;
/** Ends when the dialog that was asked for last is closed. */
let choosing: Promise<unknown> = Promise.resolve();
/** How often the dialog was opened. */
let openings = 0;

/** Adds a file to the library and returns its picture in a list. If the server refuses the file, throws an Error with the reason. */
export async function uploadPicture(file: File): Promise<Picture[]> {
  const response = await fetch(`${path}?${new URLSearchParams({ name: file.name })}`, {
    method: 'POST',
    headers: { ...inLanguage, 'content-type': 'application/octet-stream' },
    body: await scaledDown(file),
  });
  const answer: Answer = await response.json();
  if (!response.ok) throw new Error(`${file.name}: ${answer.problem}`);
  const added = answer.pictures ?? [];
  // The library may still be loading, without the added pictures.
  library =
    library?.then((pictures) => [
      ...added,
      ...pictures.filter(({ src }) => !added.some((picture) => picture.src === src)),
    ]) ?? null;
  return added;
}

/**
 * Asks for a picture. The dialog begins with the `current` picture, and asks for nothing but a picture if `isPlain` is true. Returns null
 * if the user cancels the dialog. If the dialog is open or opening for another picture, waits for its end.
 */
export function choosePicture(current: PlacedPicture, isPlain = false): Promise<PlacedPicture | null> {
  const chosen = choosing.then(() => askForPicture(current, isPlain));
  choosing = chosen.catch(() => undefined);
  return chosen;
}

async function askForPicture(current: PlacedPicture, isPlain: boolean): Promise<PlacedPicture | null> {
  openings++;
  const form = element('picture-form', HTMLFormElement);
  const [alt, decoration, link] = [altField(), decorationField(), linkField()];
  form.classList.toggle('plain-choice', isPlain);
  tellProblem('');
  element('picture-news', HTMLElement).textContent = '';
  await showLibrary(current.src);
  alt.value = current.alt;
  decoration.checked = current.isDecoration;
  link.value = current.href;
  isChoiceComplete = () => {
    const isChosen = chosenSource() !== '';
    const isNamed = isPlain || decoration.checked || alt.value.trim() !== '';
    if (!isChosen) tellProblem(say('designer.picture.choose'));
    else tellProblem(isNamed ? '' : say('designer.picture.alt.missing'));
    if (isChosen && !isNamed) alt.focus();
    return isChosen && isNamed;
  };
  if ((await ask('picture-dialog')) !== 'use') return null;
  const isDecoration = decoration.checked;
  return { src: chosenSource(), alt: isDecoration ? '' : alt.value.trim(), isDecoration, href: link.value.trim() };
}

const altField = () => element('picture-alt', HTMLInputElement);
const decorationField = () => element('picture-decoration', HTMLInputElement);
const linkField = () => element('picture-link', HTMLInputElement);
/** Returns true if the dialog may be closed. Otherwise shows what is missing. `choosePicture` sets this for its dialog. */
let isChoiceComplete = () => true;

function tellProblem(text: string): void {
  element('picture-problem', HTMLElement).textContent = text;
}

function chosenSource(): string {
  return document.querySelector<HTMLInputElement>('#picture-list input:checked')?.value ?? '';
}

/** Returns the newest pictures of the library. Returns no pictures if they cannot be loaded, because a mail can be designed without them. */
export function listPictures(): Promise<Picture[]> {
  library ??= readLibrary();
  return library;
}

/** Creates the image element with which the library shows a picture. */
export function thumbnail({ src }: Picture): HTMLImageElement {
  const image = document.createElement('img');
  // The URL for mails may have another host name, so only its path is used.
  Object.assign(image, { src: new URL(src).pathname, alt: '', loading: 'lazy' });
  return image;
}

/** Shows the newest pictures in the dialog, with the picture at the URL `chosen` selected. */
async function showLibrary(chosen: string): Promise<void> {
  const pictures = await listPictures();
  const list = element('picture-list', HTMLElement);
  const legend = list.querySelector('legend');
  const choices = pictures.map((picture) => {
    const radio = document.createElement('input');
    Object.assign(radio, { type: 'radio', name: 'picture', value: picture.src, checked: picture.src === chosen });
    radio.addEventListener('change', () => {
      decorationField().checked = false;
      altField().value = picture.alt;
    });
    const name = document.createElement('span');
    name.textContent = picture.name;
    const label = document.createElement('label');
    label.append(radio, thumbnail(picture), name);
    return label;
  });
  const none = document.createElement('p');
  none.textContent = say('designer.picture.none');
  list.replaceChildren(...(legend ? [legend] : []), ...(choices.length > 0 ? choices : [none]));
}

async function readLibrary(): Promise<Picture[]> {
  try {
    const { pictures = [] } = await call('/pictures', undefined, LIBRARY_TIMEOUT_MS);
    return pictures;
  } catch {
    // The next dialog tries again.
    library = null;
    return [];
  }
}

/** Makes the dialog accept files that are chosen, dropped or pasted. */
export function listenForPictures(): void {
  const dialog = element('picture-dialog', HTMLDialogElement);
  const input = element('picture-files', HTMLInputElement);
  const news = element('picture-news', HTMLElement);
  let adding: Promise<void> = Promise.resolve();
  /** Adds files after those that are still being added. */
  const addAll = (files: File[]) => {
    if (files.length === 0) return;
    const opening = openings;
    news.textContent = say('designer.picture.adding');
    adding = adding.then(() => addNext(files, opening));
  };
  const addNext = async (files: File[], opening: number) => {
    const [alt, isDecoration, source] = [altField().value, decorationField().checked, chosenSource()];
    const problems: string[] = [];
    let last: Picture | undefined;
    for (const file of files) {
      try {
        [last] = await uploadPicture(file);
      } catch (error) {
        problems.push(problemOf(error));
      }
    }
    // If the dialog is now open for another picture, that one keeps its choice.
    const isForThis = opening === openings;
    if (isForThis) news.textContent = problems.join(' ');
    // What the user has chosen or typed meanwhile stays.
    const isUntouched =
      altField().value === alt && decorationField().checked === isDecoration && chosenSource() === source;
    const taken = isForThis && isUntouched ? last : undefined;
    await showLibrary(taken?.src ?? chosenSource());
    if (taken === undefined || altField().value !== alt) return;
    decorationField().checked = false;
    altField().value = taken.alt;
  };
  input.addEventListener('change', () => {
    addAll([...(input.files ?? [])]);
    input.value = '';
  });
  dialog.addEventListener('dragover', (event) => event.preventDefault());
  dialog.addEventListener('drop', (event) => {
    event.preventDefault();
    addAll([...(event.dataTransfer?.files ?? [])]);
  });
  dialog.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    addAll(files);
  });
  element('picture-form', HTMLFormElement).addEventListener('submit', (event) => {
    if (!isChoiceComplete()) event.preventDefault();
  });
}
