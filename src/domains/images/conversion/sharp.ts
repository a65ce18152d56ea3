import sharp from 'sharp';

// One thread for each image. Images differ, so a cache only takes memory.
sharp.concurrency(1);
sharp.cache(false);
// No other decoder runs, whatever the bytes resemble.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
});

export { sharp };
