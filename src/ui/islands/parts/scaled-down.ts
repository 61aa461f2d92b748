/** Scales wide pictures down before they are uploaded. No mail shows their full width, but every recipient would load all of their bytes. */

/** The maximum width of an uploaded picture, in pixels. */
const MAX_WIDTH = 1600;
/** The quality of JPEG and WebP, from 0 to 1. */
const QUALITY = 0.85;
/** The types that are scaled down. GIF is not among them, because a GIF may be animated, which a canvas does not support. */
const SCALED_TYPES = ['image/png', 'image/jpeg', 'image/webp'];

/** Returns a picture of at most 1600 pixels in width, in the same format. Returns the file itself if it cannot be scaled down. */
export async function scaledDown(file: File): Promise<Blob> {
  if (!SCALED_TYPES.includes(file.type)) return file;
  const bitmap = await createImageBitmap(file).catch(() => null);
  // A file that the browser cannot decode is uploaded, because the server reports the problem.
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
