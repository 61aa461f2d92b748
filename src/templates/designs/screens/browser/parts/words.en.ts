/** English words for the words of grapesjs that only its developers understand. */

const LINES = { none: 'None', solid: 'Solid', dashed: 'Dashed', dotted: 'Dotted', double: 'Double' };

/** The words of grapesjs, in addition to its own. */
export const editorWords = {
  domComponents: { names: { '': 'Block', wrapper: 'E-mail' } },
  styleManager: {
    empty: 'Select a block to change how it looks.',
    fileButton: 'Choose image',
    sectors: {
      Dimension: 'Size and spacing',
      dimension: 'Size and spacing',
      Typography: 'Text',
      typography: 'Text',
      Decorations: 'Colours and borders',
      decorations: 'Colours and borders',
    },
    properties: {
      padding: 'Space inside',
      'vertical-align': 'Vertical position',
      'font-family': 'Font',
      'font-size': 'Size',
      'font-weight': 'Weight',
      'font-style': 'Style',
      'letter-spacing': 'Space between letters',
      color: 'Colour',
      'line-height': 'Line height',
      align: 'Align',
      'text-align': 'Align',
      'text-decoration': 'Underline',
      'background-color': 'Background',
      'container-background-color': 'Background around it',
      'background-url': 'Background image',
      'background-repeat': 'Repeat the image',
      'background-size': 'Size of the image',
      'border-radius': 'Corners',
      'border-top-left-radius-sub': 'Top left',
      'border-top-right-radius-sub': 'Top right',
      'border-bottom-left-radius-sub': 'Bottom left',
      'border-bottom-right-radius-sub': 'Bottom right',
      'border-detached': 'Border',
      'border-width': 'Width',
      'border-style': 'Line',
      'border-style-sub': 'Line',
      'border-color': 'Colour',
      'border-color-sub': 'Colour',
    },
    options: {
      align: { left: 'Left', center: 'Centre', right: 'Right', justify: 'Justified' },
      'text-align': { left: 'Left', center: 'Centre', right: 'Right', justify: 'Justified' },
      'text-decoration': { none: 'None', underline: 'Underlined', 'line-through': 'Struck through' },
      'font-style': { normal: 'Normal', italic: 'Italic' },
      'font-weight': { 400: 'Normal', 700: 'Bold' },
      'border-style': LINES,
      'border-style-sub': LINES,
      'background-repeat': {
        'no-repeat': 'Once',
        repeat: 'Tiled',
        'repeat-x': 'Across',
        'repeat-y': 'Down',
      },
      'background-size': { auto: 'Its own size', cover: 'Fills the block', contain: 'Fits into the block' },
      'vertical-align': { top: 'Top', middle: 'Middle', bottom: 'Bottom' },
    },
  },
  traitManager: {
    empty: 'Select a block to change its settings.',
    label: 'Settings',
    traits: {
      labels: {
        href: 'Link',
        alt: 'What the image shows',
        src: 'Address of the image',
        name: 'Network',
        mode: 'Arrangement',
        'full-width': 'Full width',
        hamburger: 'Menu button on phones',
      },
      attributes: { href: { placeholder: 'https://' }, alt: { placeholder: '' } },
      options: {
        mode: { horizontal: 'Side by side', vertical: 'One below the other' },
        hamburger: { hamburger: 'Yes', '': 'No' },
        name: { custom: 'Another' },
      },
    },
  },
};

/** The words of grapesjs-mjml, as far as the designer shows them. */
export const mjmlWords = {
  'grapesjs-mjml': {
    panels: {
      buttons: { undo: 'Undo', redo: 'Redo', import: 'Paste code' },
      import: { title: 'Paste code (MJML)', button: 'Paste', label: '' },
    },
    components: {
      names: {
        body: 'E-mail',
        button: 'Button',
        column: 'Column',
        divider: 'Divider',
        group: 'Columns side by side',
        hero: 'Banner',
        image: 'Image',
        navBar: 'Menu',
        navLink: 'Link in the menu',
        section: 'Section',
        socialGroup: 'Social links',
        socialElement: 'Network',
        spacer: 'Spacer',
        text: 'Text',
        wrapper: 'Group of sections',
        raw: 'HTML',
      },
    },
  },
};
