/** Entry point of the compile threads. Each processes whole mails, one at a time. */
import { parentPort } from 'node:worker_threads';
import { findPictureIds } from '../database/functions/picture-ids.ts';
import { checkBuilt } from '../delivery/checks/built-mail.ts';
import { contentWarnings } from '../delivery/checks/content-checks.ts';
import type { JobReply, JobRequest, Jobs } from '../delivery/compiling/compile.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { parseMjml, renderMjml } from '../delivery/content/mjml.ts';
import { editedTemplate, editorView } from '../delivery/content/mjml-editor.ts';
import { buildContent } from '../delivery/mime/build.ts';
import { renderSentMail } from '../delivery/queue/sent-mail.ts';
import { checkFile } from '../delivery/shown/file-check.ts';
import { linkNames } from '../delivery/shown/link-badges.ts';
import { frameMail } from '../delivery/shown/mail-frame.ts';
import { readParts } from '../delivery/shown/mail-parts.ts';
import { sketchMail } from '../delivery/shown/mail-sketch.ts';
import { checkShown, mergeShown, showContent, showCopy } from '../delivery/shown/shown-content.ts';
import { sentence } from '../errors/sentences.ts';
import { stored } from '../errors/stored.ts';

const jobs: { [Name in keyof Jobs]: (input: Jobs[Name][0]) => Jobs[Name][1] | Promise<Jobs[Name][1]> } = {
  compile: buildContent,
  async freeze({ source, facts }) {
    const content = await buildContent(source);
    const frozen = Buffer.from(`{"content":${JSON.stringify(content)},${facts.slice(1)}`);
    return { frozen, links: content.links };
  },
  render: (template_json) => renderMjml(parseMjml(template_json), true),
  view: editorView,
  edit: ({ mjml, before }) => editedTemplate(mjml, before),
  check: checkShown,
  show: showContent,
  showHtml: (showing) => mergeShown(showing).html,
  copy: showCopy,
  warnings: ({ texts, known }) => contentWarnings(texts, known),
  pictures: findPictureIds,
  frame: frameMail,
  links: linkNames,
  parts: checkBuilt,
  file: checkFile,
  takeApart: readParts,
  sketch: sketchMail,
  renderAgain: renderSentMail,
};

async function answer<Name extends keyof Jobs>({
  name,
  input,
}: {
  name: Name;
  input: Jobs[Name][0];
}): Promise<JobReply> {
  try {
    return { result: await jobs[name](input) };
  } catch (error) {
    if (error instanceof ContentError) return { problem: stored(error.said) };
    // Only the template differs from job to job, so an error that a library throws is caused by the template too.
    const reason = error instanceof RangeError ? sentence('content_overflow') : String(error);
    return { problem: stored(sentence('content_not_compiled', { reason })) };
  }
}

parentPort?.on('message', async (order: JobRequest) => parentPort?.postMessage(await answer(order)));
