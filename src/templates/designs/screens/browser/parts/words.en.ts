/** English words for the words of grapesjs that only its developers understand. */

/** The words of grapesjs, in addition to its own. */
export const editorWords = {
  domComponents: { names: { '': 'Block', wrapper: 'E-mail' } },
  styleManager: {
    empty: 'Select a block to change how it looks.',
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
      align: 'Align',
      'text-decoration': 'Underline',
      'background-color': 'Background',
      'container-background-color': 'Background around it',
      'background-url': 'Background image',
      'background-repeat': 'Repeat the image',
      'background-size': 'Size of the image',
      'border-radius': 'Corners',
      'border-detached': 'Border',
      'border-color-sub': 'Colour',
    },
    options: {
      align: { left: 'Left', center: 'Centre', right: 'Right', justify: 'Justified' },
      'text-align': { left: 'Left', center: 'Centre', right: 'Right', justify: 'Justified' },
      'text-decoration': { none: 'None', underline: 'Underlined', 'line-through': 'Struck through' },
      'font-style': { normal: 'Normal', italic: 'Italic' },
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
        title: 'Title',
        rel: 'Kind of link',
        id: 'Name',
        src: 'Address of the image',
        name: 'Network',
        mode: 'Arrangement',
        'full-width': 'Full width',
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
