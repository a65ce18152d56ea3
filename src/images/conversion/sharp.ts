import sharp from 'sharp';

// Each conversion has one thread; how many run at once is decided by the queue. Pictures differ, so a cache only takes memory.
sharp.concurrency(1);
sharp.cache(false);
// No other decoder runs, whatever the bytes resemble. SVG is for the neutral pictures, which are part of the service.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadSvgBuffer',
  ],
});

export { sharp };
