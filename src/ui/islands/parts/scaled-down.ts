/** Scales pictures down before they are uploaded, because no mail shows them wider and every recipient would load all of their bytes. */

const MAX_WIDTH = 1600;
const QUALITY = 0.85;
/** Without GIF, because it may be animated, which a canvas does not support. */
const SCALED = ['image/png', 'image/jpeg', 'image/webp'];

/** Returns the file, or the same picture in the same format, 1600 pixels wide. */
export async function scaledDown(file: File): Promise<Blob> {
  if (!SCALED.includes(file.type)) return file;
  const bitmap = await createImageBitmap(file).catch(() => null);
  // For a file that the browser cannot decode, the server reports the problem.
  if (bitmap === null || bitmap.width <= MAX_WIDTH) return file;
  const canvas = document.createElement('canvas');
  canvas.width = MAX_WIDTH;
  canvas.height = Math.max(1, Math.round((bitmap.height * MAX_WIDTH) / bitmap.width));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const scaled = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, file.type, QUALITY));
  // A browser that cannot encode the format returns a PNG instead.
  return scaled?.type === file.type ? scaled : file;
}
