/** Icons, drawn as lines in the colour of the text. They are decorative: the text next to them says the same. */

/** The paths of each icon in a square of 20 units. */
const PATHS = {
  lark: 'M3 13.5c3.5.4 5.6-.6 7-2.8 1-1.6 2.2-4.7 5-4.7 1 0 1.7.4 2 1l-1.7.8c.2 4-2.6 7.7-7 7.7-2.2 0-4-.7-5.3-2M9 12C7.600 10 5.500 7 5.500 4c2.700.8 4.700 2 6 3.800',
  home: 'M3.500 9 10 3.500 16.500 9v7h-4.500v-4h-4v4h-4.500z',
  mail: 'M3 5h14v10H3zM3.300 5.500 10 10.800l6.700-5.300',
  path: 'M5 6.500a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zm10 10.600a1.800 1.800 0 1 0 0-3.600 1.800 1.800 0 0 0 0 3.600zM7 4.700h5.500a2.700 2.700 0 0 1 0 5.300h-5a2.700 2.700 0 0 0 0 5.300H13',
  people:
    'M7.500 9.500a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400zM2.800 16c.3-2.500 2-4 4.700-4s4.400 1.500 4.700 4M13 4.400a2.600 2.600 0 0 1 0 5M14.200 12.200c1.800.5 2.800 1.800 3 3.800',
  picture: 'M3 4.500h14v11H3zM3 13l4-4 3.500 3.500 2.500-2.500 4 4M13 8.300a.9.9 0 1 0 0-1.800.9.9 0 0 0 0 1.800z',
  template: 'M3.500 3.500h13v13h-13zM3.500 7.500h13M8 7.500v9',
  form: 'M4 3.500h12v13H4zM7 7h6M7 10h6M7 13h3',
  leave: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM5.200 5.200l9.600 9.600',
  tray: 'M3 11.500 5.200 4h9.600L17 11.500V16H3zM3 11.500h4l1 2h4l1-2h4',
  sliders: 'M3 6h7m4 0h3M3 14h3m4 0h7M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm-4 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  exit: 'M8 3.500H4v13h4M8.500 10H17m-3-3 3 3-3 3',
  key: 'M7 12.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM10.200 7.500l6.800 0v3m-3-3v2.500',
  search: 'M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zm4-1.500 4 4',
  plus: 'M10 4v12M4 10h12',
  check: 'm4.500 10.500 3.500 3.500 7.500-8',
  warning: 'M10 3.500 17.500 16.500h-15zM10 8.500v3.500m0 2v.5',
  stop: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6.500v4.500m0 2v.5',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.500v4m0-6.500v-.5',
  next: 'm8 5 5 5-5 5',
  more: 'M4.500 10h.1M10 10h.1M15.500 10h.1',
  close: 'm5 5 10 10M15 5 5 15',
  pause: 'M7 5v10m6-10v10',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4.200l2.800 1.800',
  play: 'M6.500 4.500 15 10l-8.500 5.500z',
} as const;

export type IconName = keyof typeof PATHS;

/** One of the icons, which screen readers skip. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
