/** The subscribe box in the editor: its settings, and the box as the server renders it. */
(({ blocks, blockEditor, components, element, serverSideRender }, words) => {
  const { createElement: h } = element;
  const { PanelBody, TextControl, ToggleControl, Disabled } = components;

  blocks.registerBlockType('sendlark/subscribe', {
    edit({ attributes, setAttributes }) {
      const text = (name) =>
        h(TextControl, {
          label: words[name],
          value: attributes[name],
          onChange: (value) => setAttributes({ [name]: value }),
        });
      return h(
        'div',
        blockEditor.useBlockProps(),
        h(
          blockEditor.InspectorControls,
          null,
          h(
            PanelBody,
            null,
            text('form'),
            text('button'),
            h(ToggleControl, {
              label: words.name,
              checked: attributes.name,
              onChange: (name) => setAttributes({ name }),
            }),
          ),
        ),
        h(Disabled, null, h(serverSideRender, { block: 'sendlark/subscribe', attributes })),
      );
    },
    save: () => null,
  });
})(window.wp, window.sendlarkWords);
