/** English words for the words of grapesjs that only its developers understand. */

/** The words of grapesjs, in addition to its own. */
export const editorWords = {
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
      'border-color': 'Colour',
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

/** The plugin for MJML has its own in English. */
export const mjmlWords = null;
