/**
 * Imported before any library: with `DEBUG` set, ioredis prints the commands it sends, AUTH with its password among them
 * (P12). Our own log has a debug level.
 */
delete process.env['DEBUG'];
