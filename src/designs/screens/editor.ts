/** The document of the design page, in the language of whoever opens it. */

import { chooseLanguage } from '../../dashboard/words/choose.ts';
import { isWordKey, type Language } from '../../dashboard/words/index.ts';
import { html } from '../../http/pages/html.ts';
import { builtUrls } from '../../http/static-files.ts';
import { languageOfLocale } from '../../languages.ts';
import type { Design } from '../designs.ts';
import { designer } from '../words.en.ts';

/** The language that the address asks for, which the dashboard sets; else the browser's. */
export function languageOfDesign(asked: unknown, accepted: string | undefined): Language {
  return chooseLanguage(languageOfLocale(typeof asked === 'string' ? asked : ''), accepted, undefined);
}

/** The design page of a mail. Its script fills it; what the script says is in the page. `path` is that of the page itself. */
export function editorPage(
  { kind, title, subject, isDraft, locked }: Design,
  path: string,
  language: Language,
): string {
  const say = (key: `designer.${string}` & keyof typeof designer) => language.fill(key, {});
  return html`<!doctype html>
<html lang="${language.code}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>${language.say('designer.title', { subject })}</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="${builtUrls('grapes.css').url}"><link rel="stylesheet" href="${builtUrls('design.css').url}">
<script defer src="${builtUrls('grapes.js').url}"></script><script defer src="${builtUrls('grapes-mjml.js').url}"></script><script type="module" src="${builtUrls('design').url}"></script></head>
<body data-locked="${locked === null ? '' : 'yes'}" data-draft="${isDraft ? 'yes' : ''}" data-words="${JSON.stringify(wordsOf(language))}">
<header><div class="what"><h1>${subject}</h1><p>${title}</p></div>
<p id="state"></p><p id="status" role="status">${locked === null ? say('designer.loading') : say('designer.locked')}</p>
<div class="actions">${kind === 'template' ? '' : html`<a href="${path}/versions" target="_top">${language.say('versions.open')}</a>`}<button id="mode" class="plain" type="button" hidden></button><button id="preview" class="plain" type="button">${say('designer.preview')}</button><button id="test" class="plain" type="button">${say('designer.test')}</button><button id="save" type="button">${say('designer.save')}</button></div></header>
<main id="main"><div id="workspace" hidden><details id="parts" open><summary>${say('designer.parts')}</summary>
<div role="toolbar" id="part-tools" aria-label="${say('designer.parts.tools')}"></div><ul id="part-list"></ul><section id="own-blocks" aria-labelledby="own-title"><h2 id="own-title">${say('designer.own')}</h2><ul id="own-list"></ul></section></details><div id="editor"></div></div></main>
${previewDialog(say)}
${pictureDialog(say)}
<dialog id="test-dialog" aria-label="${say('designer.test')}"><form class="bar" id="test-form"><label>${say('designer.test.to')} <input id="address" type="email" required autocomplete="email" aria-describedby="who"></label>
<button>${say('designer.test.send')}</button><button class="plain" type="button" data-close>${say('designer.cancel')}</button></form>
<p id="who">${say('designer.test.who')}</p></dialog>
<dialog id="drop-dialog" aria-labelledby="drop-title" aria-describedby="drop-text"><h2 id="drop-title">${say('designer.blocks.drop')}</h2><p id="drop-text">${say('designer.blocks.drop.text')}</p>
<form method="dialog" class="bar"><button value="drop">${say('designer.blocks.drop.yes')}</button><button class="plain" value="">${say('designer.blocks.drop.no')}</button></form></dialog>
<dialog id="delete-dialog" aria-labelledby="delete-title" aria-describedby="delete-text"><h2 id="delete-title">${say('designer.own.delete.title')}</h2><p id="delete-text">${say('designer.own.delete.text')}</p>
<form method="dialog" class="bar"><button value="delete">${say('designer.own.delete.yes')}</button><button class="plain" value="">${say('designer.cancel')}</button></form></dialog>
<dialog id="keep-dialog" aria-label="${say('designer.keep')}"><form method="dialog" class="bar"><label>${say('designer.keep.name')} <input id="keep-name" required maxlength="255" autocomplete="off"></label>
<button value="keep">${say('designer.keep.yes')}</button><button class="plain" type="button" data-close>${say('designer.cancel')}</button></form></dialog>
<dialog id="source-dialog" aria-labelledby="source-title"><form method="dialog" id="source-form"><h2 id="source-title">${say('designer.source')}</h2>
<textarea id="source" class="code" spellcheck="false" aria-labelledby="source-title" rows="16"></textarea>
<div class="bar"><button value="use">${say('designer.source.use')}</button><button class="plain" type="button" data-close>${say('designer.cancel')}</button></div></form></dialog>
<noscript>${say('designer.noScript')}</noscript>
</body></html>
`.text;
}

type Say = (key: keyof typeof designer) => string;

const previewDialog = (
  say: Say,
) => html`<dialog id="preview-dialog" aria-label="${say('designer.preview')}"><form method="dialog" class="bar">
<fieldset><legend>${say('designer.width')}</legend><label><input type="radio" name="width" value="desk" checked> ${say('designer.desk')}</label><label><input type="radio" name="width" value="phone"> ${say('designer.phone')}</label></fieldset>
<label>${say('designer.contact')} <input id="contact" type="email" placeholder="${say('designer.contact.hint')}" autocomplete="off"></label>
<button id="refresh" class="plain" type="button">${say('designer.show')}</button><button>${say('designer.close')}</button></form>
<p id="subject"></p><iframe id="mail" title="${say('designer.mail')}" sandbox="" class="desk"></iframe></dialog>`;

const pictureDialog = (
  say: Say,
) => html`<dialog id="picture-dialog" aria-labelledby="picture-title"><form id="picture-form" method="dialog"><h2 id="picture-title">${say('designer.picture')}</h2>
<label class="drop">${say('designer.picture.add')} <input type="file" id="picture-files" multiple accept="image/png,image/jpeg,image/gif,image/webp" aria-describedby="picture-hint"></label><p id="picture-hint" class="quiet">${say('designer.picture.hint')}</p>
<p id="picture-news" role="status"></p><fieldset id="picture-list"><legend>${say('designer.picture')}</legend></fieldset>
<label class="field" for="picture-alt">${say('designer.picture.alt')}</label><input id="picture-alt" maxlength="255" autocomplete="off" aria-describedby="picture-alt-hint"><p id="picture-alt-hint" class="quiet">${say('designer.picture.alt.hint')}</p>
<label class="choice"><input type="checkbox" id="picture-decoration"> ${say('designer.picture.decoration')}</label>
<label class="field" for="picture-link">${say('designer.picture.link')}</label><input id="picture-link" maxlength="2000" inputmode="url" autocomplete="off" placeholder="https://">
<p id="picture-problem" role="alert"></p>
<div class="bar"><button value="use">${say('designer.picture.use')}</button><button class="plain" type="button" data-close>${say('designer.cancel')}</button></div></form></dialog>`;

/** What the script says, by key, with the holes for values as they are. */
function wordsOf(language: Language): Record<string, string> {
  const keys = Object.keys(designer).filter(isWordKey);
  return Object.fromEntries(keys.map((key) => [key, language.fill(key, {})]));
}
