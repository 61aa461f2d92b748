/** The account's picture library in the editor: choosing a picture for an image block, and adding pictures. */
import type { Editor, EditorConfig } from 'grapesjs';
import { scaledDown } from '../../../islands/parts/scaled-down.ts';

/** A picture as the editor takes it. */
export interface Picture {
  src: string;
  name: string;
  width: number;
  height: number;
}

interface Answer {
  problem?: string;
  pictures?: Picture[];
}

const path = `${location.pathname}/pictures`;

/** The newest pictures of the library; none where they cannot be read, since the mail can be designed without them. */
export async function listPictures(): Promise<Picture[]> {
  try {
    const answer: Answer = await (await fetch(path)).json();
    return answer.pictures ?? [];
  } catch {
    return [];
  }
}

/** The settings of the editor's asset manager. `show` shows the progress of adding, and why a picture was refused. */
export function pictureLibrary(
  pictures: Picture[],
  editor: () => Editor,
  show: (work: () => Promise<string | undefined>) => void,
): NonNullable<EditorConfig['assetManager']> {
  return {
    assets: pictures,
    embedAsBase64: false,
    upload: path,
    uploadFile: async (event) => {
      const files = [...(filesOf(event) ?? [])];
      show(async () => {
        for (const file of files) {
          const added = await upload(file);
          editor().AssetManager.add(
            added.map((picture) => ({ ...picture })),
            { at: 0 },
          );
        }
        return undefined;
      });
    },
  };
}

function filesOf(event: DragEvent): FileList | null | undefined {
  return event.dataTransfer?.files ?? (event.target instanceof HTMLInputElement ? event.target.files : null);
}

/** Adds a file to the library. Throws an Error with the reason when it is refused. */
async function upload(file: File): Promise<Picture[]> {
  const response = await fetch(`${path}?${new URLSearchParams({ name: file.name })}`, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: await scaledDown(file),
  });
  const answer: Answer = await response.json();
  if (!response.ok) throw new Error(`${file.name}: ${answer.problem}`);
  return answer.pictures ?? [];
}
