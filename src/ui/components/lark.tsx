/**
 * The lark of Sendlark, drawn as lines and soft areas in the colours of the page. The drawing is decorative, because the text beside it
 * says the same.
 */

/** The lark sings where something begins, flies with a letter where a page is about mail, and looks around where nothing was found. */
export type LarkPose = 'sings' | 'flies' | 'looks';

/** The paths of each pose in a box of 160 by 120 units: the areas and lines of the bird, and the lines around it. */
const POSES: Readonly<Record<LarkPose, { areas: string; lines: string; around: string; eye: [x: number, y: number] }>> =
  {
    sings: {
      areas:
        'M44 73C47 56 62 46 80 45 89 44 93 40 97 34 101 28 109 26 115 30 120 33 122 38 121 43L131 44 121 50C121 69 105 87 80 87 65 87 51 83 44 73Z',
      lines:
        'M60 62C72 54 90 56 99 62 92 75 74 80 56 74M44 73 22 84 25 73 47 63M103 29C101 24 98 21 93 20M108 27C108 22 105 18 101 15M77 87 75 98M88 86 88 98',
      around:
        'M36 100C62 96 98 102 130 97M112 99C117 93 123 91 131 91 127 96 121 99 112 99M138 38C141 42 141 47 138 51M145 33C150 40 150 49 145 56',
      eye: [113, 38],
    },
    flies: {
      areas:
        'M34 66C52 68 64 60 76 54 88 48 100 42 111 44 118 45 122 49 123 54L133 56 123 60C119 72 104 78 86 78 64 78 46 76 34 66Z',
      lines:
        'M68 58C64 40 50 26 33 20 36 40 46 58 62 66M86 50C88 34 99 21 114 14 115 31 107 43 98 48M34 66 14 60 21 71 40 71M103 44C102 40 99 37 95 36M126 60 124 80',
      around: 'M108 82H138V103H108ZM108 82 123 94 138 82M6 42H20M2 50H12M40 92H54M50 100H58',
      eye: [115, 52],
    },
    looks: {
      areas:
        'M38 62C46 50 64 46 80 48 94 50 104 55 110 62 117 64 122 70 122 76L128 87 117 84C110 88 102 87 97 82 84 90 60 88 48 80 43 75 40 69 38 62Z',
      lines:
        'M58 60C70 56 86 60 93 67 84 76 68 77 54 72M38 62 18 50 20 63 44 74M112 63C114 58 117 56 122 55M106 59C107 54 110 51 114 49M70 86 68 99M82 86 82 99',
      around: 'M30 100H132M138 100H144M122 95H124M132 94H134M112 96H114',
      eye: [114, 73],
    },
  };

/** The lark in a pose. */
export function Lark({ pose }: { pose: LarkPose }) {
  const {
    areas,
    lines,
    around,
    eye: [x, y],
  } = POSES[pose];
  return (
    <svg class="lark" viewBox="0 0 160 120" aria-hidden="true" focusable="false">
      <path class="around" d={around} />
      <path class="area" d={areas} />
      <path d={lines} />
      <circle class="eye" cx={x} cy={y} r={2} />
    </svg>
  );
}
