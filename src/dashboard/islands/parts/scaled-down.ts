/** Scales pictures down before they are sent: no mail shows them wider, and everybody who opens it would load them. */

const MAX_WIDTH = 1600;
const QUALITY = 0.85;
/** A GIF may move, which a canvas cannot. */
const SCALED = ['image/png', 'image/jpeg', 'image/webp'];

/** The file, or in its place the same picture 1600 pixels wide and in the same format. */
export async function scaledDown(file: File): Promise<Blob> {
  if (!SCALED.includes(file.type)) return file;
  const bitmap = await createImageBitmap(file).catch(() => null);
  // The server says what is wrong with a file that the browser cannot show.
  if (bitmap === null || bitmap.width <= MAX_WIDTH) return file;
  const canvas = document.createElement('canvas');
  canvas.width = MAX_WIDTH;
  canvas.height = Math.max(1, Math.round((bitmap.height * MAX_WIDTH) / bitmap.width));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const scaled = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, file.type, QUALITY));
  // A browser that cannot write the format gives a PNG instead.
  return scaled?.type === file.type ? scaled : file;
}
