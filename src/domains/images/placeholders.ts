import type { ImageRepository } from './repository.ts';

/** Placeholders, one for each category, for posts without images. Each is drawn at its first request and kept in memory. */
export function createPlaceholders({ categoryName }: Pick<ImageRepository, 'categoryName'>) {
  const placeholders = new Map<number, Promise<Buffer>>();
  return async (categoryId: number): Promise<Buffer | undefined> => {
    const known = placeholders.get(categoryId);
    if (known !== undefined) return known;
    const name = await categoryName(categoryId);
    if (name === undefined) return undefined;
    const placeholder = placeholders.get(categoryId) ?? draw(name);
    placeholders.set(categoryId, placeholder);
    // The next request tries again.
    placeholder.catch(() => placeholders.delete(categoryId));
    return placeholder;
  };
}

async function draw(name: string): Promise<Buffer> {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  return sharp(Buffer.from(drawingOf(name)))
    .webp({ quality: 85 })
    .toBuffer();
}

/** By category: a background for white, and a pictogram, SVG in a square of 48 by 48 and white unless it says otherwise. */
const drawings: Record<string, string> = {
  카페: '#8a5a3c <path d="M12 20h20v8a9 9 0 0 1-9 9h-2a9 9 0 0 1-9-9z"/><path d="M32 22h2a4 4 0 0 1 0 9h-3"/><path d="M18 15c-2-2 2-4 0-6M26 15c-2-2 2-4 0-6"/><path d="M11 41h22"/>',
  음식점:
    '#c0492f <path d="M9 24h30a15 13 0 0 1-8 12v3H17v-3a15 13 0 0 1-8-12z"/><path d="M17 19c-2-2 2-4 0-7M24 19c-2-2 2-4 0-7"/><path d="M29 20 39 8M33 21 42 11"/>',
  베이커리:
    '#b5762a <path d="M9 27c0-8 7-13 15-13s15 5 15 13c0 3-2 4-4 4v5H13v-5c-2 0-4-1-4-4z"/><path d="m18 18 3 5M25 17l3 5M31 19l2 4"/>',
  주점: '#a06c12 <path d="M13 18h18v21H13z"/><path d="M31 22h3a4 4 0 0 1 4 4v4a4 4 0 0 1-4 4h-3"/><path d="M12 18a4 4 0 0 1 2-7 5 5 0 0 1 8-2 5 5 0 0 1 8 2 4 4 0 0 1 2 7z"/><path d="M19 24v10M25 24v10"/>',
  식료품:
    '#3f7d3a <path d="M9 21h30l-3 17H12z"/><path d="m15 21 7-12M33 21 26 9"/><path d="M18 27v6M24 27v6M30 27v6"/>',
  의류·잡화: '#7a4a8c <path d="m17 10-9 6 4 8 4-2v17h16V22l4 2 4-8-9-6c-1 4-4 5-7 5s-6-1-7-5z"/>',
  미용: '#b0486f <circle cx="14" cy="33" r="5"/><circle cx="34" cy="33" r="5"/><path d="M17 29 32 8M31 29 16 8"/>',
  건강·운동: '#1f7a72 <path d="M16 24h16"/><path d="M12 15v18M16 12v24M32 12v24M36 15v18M8 21v6M40 21v6"/>',
  교육: '#2f64a8 <path d="M24 15c-4-3-9-4-15-4v24c6 0 11 1 15 4 4-3 9-4 15-4V11c-6 0-11 1-15 4z"/><path d="M24 15v24"/>',
  문화·여가:
    '#5a52a8 <path d="M8 15h32v6a3 3 0 0 0 0 6v6H8v-6a3 3 0 0 0 0-6z"/><path d="m24 18 2 4 4 .5-3 3 1 4.5-4-2-4 2 1-4.5-3-3 4-.5z" fill="#fff"/>',
  숙박: '#3a5f7d <path d="M8 12v26M8 33h32v5M40 33v-5a5 5 0 0 0-5-5H20v10"/><circle cx="14" cy="26" r="3"/><path d="M31 9a5 5 0 1 0 6 6 5 5 0 0 1-6-6z" fill="#fff"/>',
  꽃·식물:
    '#a8485a <circle cx="24" cy="18" r="3"/><path d="M24 15c-4-7 4-7 0 0zM24 21c-4 7 4 7 0 0zM21 18c-7-4-7 4 0 0zM27 18c7-4 7 4 0 0z" stroke-width="4"/><path d="M24 25v15M24 38c-6 0-9-3-10-7 5 0 9 2 10 7zM24 36c5 0 8-2 9-6-5 0-8 2-9 6z"/>',
  반려동물:
    '#95652f <g fill="#fff"><ellipse cx="13" cy="23" rx="3" ry="4.5"/><ellipse cx="20" cy="15" rx="3" ry="4.5"/><ellipse cx="28" cy="15" rx="3" ry="4.5"/><ellipse cx="35" cy="23" rx="3" ry="4.5"/><path d="M24 24c-5 0-9 6-9 10 0 5 5 4 9 3 4 1 9 2 9-3 0-4-4-10-9-10z"/></g>',
  생활·수리:
    '#5d6670 <path d="M37 12a9 9 0 0 1-12 11L14 36a4 4 0 0 1-5-5l13-11A9 9 0 0 1 33 8l-5 6 1 4 4 1z"/>',
  사진·디자인:
    '#3c4a8f <path d="M8 16h8l3-5h10l3 5h8v21H8z"/><circle cx="24" cy="26" r="7"/><circle cx="24" cy="26" r="2" fill="#fff"/>',
  서점·문구:
    '#2d6e5b <path d="M10 10h7v28h-7zM17 10h7v28h-7z"/><path d="M10 16h7M17 16h7"/><path d="m29 34 2-22 3-4 3 4 2 22zM31 12h6M30 30h8"/><path d="M29 34h10v4H29z"/>',
  공방: '#94502d <path d="M17 12h14M19 12c0 5-8 8-8 16 0 6 5 11 13 11s13-5 13-11c0-8-8-11-8-16"/><path d="M12 24h24M12 31h24"/>',
  기타: '#4f6d7a <path d="M10 20h28v19H10z"/><path d="m8 20 4-10h24l4 10c0 5-6 5-8 1-2 4-6 4-8 0-2 4-6 4-8 0-2 4-8 4-8-1z" fill="#4f6d7a"/><path d="M20 39V29h8v10"/>',
};

/** For categories that come later: a signboard. */
const unknown = '#56606b <path d="M10 14h28v16H10z"/><path d="M24 8v6M24 30v10M18 40h12M16 20h16M16 25h10"/>';

function drawingOf(categoryName: string): string {
  const drawing = drawings[categoryName] ?? unknown;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="480" viewBox="0 0 48 48">
<rect width="48" height="48" fill="${drawing.slice(0, 7)}"/>
<g transform="translate(9.6 9.6) scale(.6)" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">${drawing.slice(8)}</g>
</svg>`;
}
