/**
 * Makes what browsers load: bundles of our own scripts and style sheets, and files of packages as they are. The names have the hash of
 * the content, so that a file can be kept for ever; each is there compressed too. `manifest.json` lists the names.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The folders whose scripts and style sheets are bundled, each of them into a file of its own. */
const FOLDERS = [
  'src/ui/islands',
  'src/forms/screens/browser',
  'src/senders/screens/browser',
  'src/templates/designs/screens/browser',
  'src/http/openapi/browser',
  'src/pages/forms/browser',
];
const STYLES = 'src/ui/styles/dashboard.css';
/** Files of packages, by the names that pages use. They are looked for only in a build, because a built copy may lack these packages. */
const findPackageFiles = () => ({
  'grapes.js': import.meta.resolve('grapesjs/dist/grapes.min.js'),
  'grapes.css': import.meta.resolve('grapesjs/dist/css/grapes.min.css'),
  'grapes-mjml.js': import.meta.resolve('grapesjs-mjml'),
});
/** Above this size the best compression takes seconds and saves little. */
const LARGE_BYTES = 200_000;
const LARGE_QUALITY = 8;

/** The folders whose files decide what the bundles contain. */
export function browserSources(root) {
  return ['src/ui', ...FOLDERS].map((folder) => join(root, folder));
}

/** Writes the files to `files/` in the output folder, and their manifest beside it. */
export async function bundleForBrowsers(root, output) {
  const files = join(output, 'files');
  mkdirSync(files, { recursive: true });
  const entryPoints = [...FOLDERS.flatMap((folder) => entriesOf(root, folder)), STYLES].filter((path) =>
    existsSync(join(root, path)),
  );
  const manifest = await bundle(root, files, entryPoints);
  for (const [name, content] of await packageFiles()) {
    const [stem, ending] = name.split('.');
    const file = `${stem}-${createHash('sha256').update(content).digest('hex').slice(0, 8)}.${ending}`;
    writeFileSync(join(files, file), content);
    manifest[name] = { file, imports: [] };
  }
  writeFileSync(join(output, 'manifest.json'), JSON.stringify(manifest, null, 2));
  // A font is compressed already.
  for (const name of readdirSync(files).filter((file) => !file.endsWith('.woff2'))) {
    const content = readFileSync(join(files, name));
    const quality = content.length > LARGE_BYTES ? LARGE_QUALITY : constants.BROTLI_MAX_QUALITY;
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
    writeFileSync(join(files, `${name}.br`), brotliCompressSync(content, { params }));
    writeFileSync(join(files, `${name}.gz`), gzipSync(content, { level: 9 }));
  }
}

function entriesOf(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder))
    .filter((name) => /\.(tsx?|css)$/.test(name))
    .map((name) => `${folder}/${name}`);
}

/** The contents of these files and of the API reference, which its package contains only as a text within its own code. */
async function packageFiles() {
  const { default: fastify } = await import('fastify');
  const { default: apiReference } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  app.register(apiReference, { routePrefix: '/reference', configuration: { url: '/' } });
  const { payload } = await app.inject('/reference/js/scalar.js');
  await app.close();
  const copied = Object.entries(findPackageFiles()).map(([name, url]) => [
    name,
    withoutSourceMap(readFileSync(new URL(url), 'utf8')),
  ]);
  return [...copied, ['scalar.js', withoutSourceMap(payload)]];
}

/** Developer tools would otherwise ask for a source map that is not there. */
function withoutSourceMap(code) {
  return code.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
}

/** Returns, by the name of each script, style sheet and font (a script without its ending), the file it became and the files it needs at once, without those it loads later. */
async function bundle(root, outdir, entryPoints) {
  if (entryPoints.length === 0) return {};
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints,
    absWorkingDir: root,
    outdir,
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.woff2': 'file' },
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox121', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const named = Object.entries(metafile.outputs).map(([path, { entryPoint, inputs, imports }]) => ({
    path,
    source: path.endsWith('.woff2') ? Object.keys(inputs)[0] : entryPoint,
    imports,
  }));
  const built = named.filter(({ source }) => source !== undefined);
  return Object.fromEntries(
    built.map(({ path, source, imports }) => [
      basename(source).replace(/\.tsx?$/, ''),
      {
        file: basename(path),
        imports: imports.filter(({ kind }) => kind === 'import-statement').map((part) => basename(part.path)),
      },
    ]),
  );
}
