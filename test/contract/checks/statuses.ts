/** `STATUS_CODES=always-200` changes the status alone: the bodies are the same. */
import type { TestApp } from '../../support/app.ts';
import type { Probe } from '../probe.ts';

/** Compares with an application under that setting. Its accounts are empty: what fails before any record will do. */
export async function statuses(probe: Probe, lenient: TestApp): Promise<void> {
  const { app } = probe.place;
  for (const keys of [{}, app.one.headers]) {
    const known = keys === app.one.headers;
    const usual = await probe.ask({}, known ? app.one : app.anonymous);
    const other = await (known ? lenient.one : lenient.anonymous).call(probe.method, probe.endpoint.path);
    if (other.status !== 200) probe.report('under always-200', [`status ${other.status}`]);
    if (usual.status !== 200 && usual.text !== other.text)
      probe.report('under always-200', [`${other.text}, not ${usual.text}`]);
    probe.place.tables.rewind();
  }
}
