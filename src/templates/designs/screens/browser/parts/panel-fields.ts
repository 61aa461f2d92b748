/** The fields of the editor's panels for style and settings: only what mail programs show, in words. */
import type { Component, Editor, Property } from 'grapesjs';
import type { Brand } from './brand.ts';
import { element, say } from './page.ts';

const ALIGNMENTS = ['left', 'center', 'right', 'justify'];
/** The lines that all mail programs draw. */
const LINES = ['none', 'solid', 'dashed', 'dotted', 'double'];
/** The choices of properties, by the id of the property. Their words are in the files of words of the editor. */
const CHOICES: Readonly<Record<string, readonly string[]>> = {
  align: ALIGNMENTS,
  'text-align': ALIGNMENTS,
  'text-decoration': ['none', 'underline', 'line-through'],
  'font-style': ['normal', 'italic'],
  // Fonts of mail programs have no other weights.
  'font-weight': ['400', '700'],
  'border-style': LINES,
  'border-style-sub': LINES,
  'background-repeat': ['repeat', 'no-repeat', 'repeat-x', 'repeat-y'],
  'background-size': ['auto', 'cover', 'contain'],
};
/** The units that MJML accepts (https://documentation.mjml.io), also by the id of the property. A line height may have none. */
const UNITS = ['px', '%'];
const UNITS_OF: Readonly<Record<string, readonly string[]>> = {
  'letter-spacing': ['px', 'em'],
  'line-height': ['', 'px', '%'],
};
/** Properties that MJML does not have. */
const UNKNOWN = ['max-width', 'min-height', 'margin'];
/** The properties of a part of a text, such as a link. */
const OF_TEXT = ['font-family', 'font-size', 'font-weight', 'font-style', 'color', 'text-decoration'];
/** The properties of a group of sections. */
const OF_WRAPPER = [
  'padding',
  'text-align',
  'background-color',
  'background-url',
  'background-repeat',
  'background-size',
  'border-radius',
  'border',
];
/** The settings that readers of the mail notice. */
const SETTINGS = new Set(['href', 'alt', 'src', 'name', 'mode', 'full-width', 'hamburger']);

/** Limits the fields of both panels to those that a mail can have, and shows their choices as words. */
export function adaptPanels(editor: Editor, { fonts }: Brand): void {
  const styles = editor.StyleManager;
  for (const property of UNKNOWN) styles.removeProperty('dimension', property);
  for (const sector of styles.getSectors({ array: true })) {
    sector.setOpen(true);
    for (const property of sector.getProperties()) adapt(property);
  }
  const options = fonts.map(({ name, stack }) => ({ id: stack, label: name }));
  styles.getProperty('typography', 'font-family')?.set({ type: 'select', options });
  for (const type of ['default', 'text', 'link'])
    editor.Components.addType(type, { model: { defaults: { stylable: OF_TEXT } } });
  editor.Components.addType('mj-wrapper', { model: { defaults: { stylable: OF_WRAPPER } } });
  editor.on('component:selected', keepSettings);
  // The style sheet shows this text in a panel that has no field for the selected part.
  const text = JSON.stringify(say('designer.view.nothing'));
  element('editor', HTMLElement).style.setProperty('--nothing', text);
}

function adapt(property: Property): void {
  const parts: Property[] = property.get('properties') ?? [];
  for (const part of parts) adapt(part);
  const id = property.getId();
  const choices = CHOICES[id];
  if (choices !== undefined)
    property.set(
      'options',
      choices.map((choice) => ({ id: choice })),
    );
  if (property.get('units')?.length > 0) property.set('units', UNITS_OF[id] ?? UNITS);
  const value = property.getDefaultValue();
  const placeholder = /^\d/.test(value)
    ? value
    : say(value === 'none' ? 'designer.value.none' : 'designer.value.automatic');
  property.set({ placeholder });
  // The editor has drawn the field already, and draws it again after this event.
  property.trigger('change:name');
}

/** Removes the other settings of a part from the panel; the mail keeps them. */
function keepSettings(part: Component): void {
  const others = part
    .getTraits()
    .map((trait) => trait.getName())
    .filter((name) => !SETTINGS.has(name));
  if (others.length > 0) part.removeTrait(others);
}
