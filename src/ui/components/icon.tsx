/** Icons, drawn as lines in the colour of the text. They are decorative, because the text next to an icon says the same. */

/** The paths of each icon in a square of 20 units. */
const PATHS = {
  lark: 'M3 13.5c3.5.4 5.6-.6 7-2.8 1-1.6 2.2-4.7 5-4.7 1 0 1.7.4 2 1l-1.7.8c.2 4-2.6 7.7-7 7.7-2.2 0-4-.7-5.3-2M9 12C7.6 10 5.5 7 5.5 4c2.7.8 4.7 2 6 3.8',
  home: 'M3.5 9 10 3.5 16.5 9v7h-4.5v-4h-4v4h-4.5z',
  mail: 'M3 5h14v10H3zM3.3 5.5 10 10.8l6.7-5.3',
  path: 'M5 6.5a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zm10 10.6a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6zM7 4.7h5.5a2.7 2.7 0 0 1 0 5.3h-5a2.7 2.7 0 0 0 0 5.3H13',
  people:
    'M7.5 9.5a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4zM2.8 16c.3-2.5 2-4 4.7-4s4.4 1.5 4.7 4M13 4.4a2.6 2.6 0 0 1 0 5M14.2 12.2c1.8.5 2.8 1.8 3 3.8',
  picture: 'M3 4.5h14v11H3zM3 13l4-4 3.5 3.5 2.5-2.5 4 4M13 8.3a.9.9 0 1 0 0-1.8.9.9 0 0 0 0 1.8z',
  template: 'M3.5 3.5h13v13h-13zM3.5 7.5h13M8 7.5v9',
  form: 'M4 3.5h12v13H4zM7 7h6M7 10h6M7 13h3',
  leave: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM5.2 5.2l9.6 9.6',
  tray: 'M3 11.5 5.2 4h9.6L17 11.5V16H3zM3 11.5h4l1 2h4l1-2h4',
  sliders: 'M3 6h7m4 0h3M3 14h3m4 0h7M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm-4 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  exit: 'M8 3.5H4v13h4M8.5 10H17m-3-3 3 3-3 3',
  key: 'M7 12.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10.2 7.5l6.8 0v3m-3-3v2.5',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zm4-1.5 4 4',
  plus: 'M10 4v12M4 10h12',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  warning: 'M10 3.5 17.5 16.5h-15zM10 8.5v3.5m0 2v.5',
  stop: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6.5v4.5m0 2v.5',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.5v4m0-6.5v-.5',
  next: 'm8 5 5 5-5 5',
  more: 'M4.5 10h.1M10 10h.1M15.5 10h.1',
  close: 'm5 5 10 10M15 5 5 15',
  pause: 'M7 5v10m6-10v10',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.2l2.8 1.8',
  play: 'M6.5 4.5 15 10l-8.5 5.5z',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon. Screen readers skip it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
