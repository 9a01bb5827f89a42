/**
 * The limits of an image. Models see no more pixels than this on the longer side, and some models reject more bytes (5
 * MiB in base64).
 */
const most = { side: 2000, bytes: (5 * 1024 * 1024 * 3) / 4 };

/** The image types that language models read. */
const common = /^image\/(png|jpeg|gif|webp)$/;

/**
 * Returns the image with at most 2000 pixels on the longer side and 3.75 MiB, in a type that models read. Returns the
 * file unchanged if it is already within these limits, or if the browser cannot draw it. Keeps the image's type if
 * models read that type and the result is small enough.
 */
export async function shrinkImage(file: Blob): Promise<Blob> {
  if (!file.type.startsWith('image/') || file.type === 'image/svg+xml') return file;
  const image = await createImageBitmap(file).catch(() => undefined);
  if (image === undefined) return file;
  try {
    const scale = Math.min(1, most.side / Math.max(image.width, image.height));
    if (scale === 1 && file.size <= most.bytes && common.test(file.type)) return file;
    const type = common.test(file.type) && file.type !== 'image/gif' ? file.type : 'image/jpeg';
    const drawn = drawScaled(image, scale);
    const same = await encode(drawn, type);
    const small = same.size > most.bytes ? await encode(drawn, 'image/jpeg') : same;
    // Redrawing can enlarge a file, so keep the original if it was small enough.
    return scale === 1 && common.test(file.type) && small.size >= file.size ? file : small;
  } finally {
    image.close();
  }
}

function drawScaled(image: ImageBitmap, scale: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  const context = canvas.getContext('2d');
  if (context === null) return canvas;
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas;
}

function encode(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  if (type === 'image/jpeg') paintWhiteBelow(canvas);
  return new Promise((resolve, reject) => {
    const take = (file: Blob | null) =>
      file === null ? reject(new Error('The browser cannot write this image.')) : resolve(file);
    canvas.toBlob(take, type, 0.9);
  });
}

/** Paints white below the picture: JPEG has no transparency, and transparent pixels would become black. */
function paintWhiteBelow(canvas: HTMLCanvasElement): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.globalCompositeOperation = 'destination-over';
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
}
