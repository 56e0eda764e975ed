internal import Glibc

extension FileDescriptor {
    /// How many bytes the file system that it is on has left for a process without privileges.
    func freeBytes() throws(SystemError) -> Int {
        try diskSpace().free
    }

    /// How many bytes the file system that it is on has, and has left for a process without privileges.
    func diskSpace() throws(SystemError) -> (total: Int, free: Int) {
        var status = statvfs()
        try Self.call("fstatvfs") { Glibc.fstatvfs(number, &status) }
        let bytes = { (blocks: UInt) in
            let (bytes, isTooMany) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return isTooMany ? .max : Int(clamping: bytes)
        }
        return (bytes(status.f_blocks), bytes(status.f_bavail))
    }

    /// What this file is now.
    func status() throws(SystemError) -> FileStatus {
        var status = Glibc.stat()
        try Self.call("fstat") { Glibc.fstat(number, &status) }
        return FileStatus(status)
    }

    /// Replaces a file in this folder as a whole, by way of a temporary one; on disk when this returns.
    func replaceFile(_ name: String, with bytes: [UInt8], through temporaryName: String) throws(SystemError) {
        try removeFile(temporaryName)
        let file = try openFile(temporaryName, for: .creating)
        try file.write(bytes)
        try file.synchronize()
        try rename(temporaryName, to: name)
        try synchronize()
    }

    /// What is in a file of this folder, up to so many bytes; nil when there is none.
    func contents(ofFile name: String, maximumBytes: Int) throws(SystemError) -> [UInt8]? {
        do throws(SystemError) {
            let file = try openFile(name, for: .reading)
            return try file.read(min(file.status().size, maximumBytes))
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Forgets what the system holds of this file in memory and has written, or has failed to write: it is read from the disk
    /// again.
    func dropCached() throws(SystemError) {
        let code = posix_fadvise(number, 0, 0, Int32(POSIX_FADV_DONTNEED))
        guard code == 0 else { throw SystemError("posix_fadvise", code: code) }
    }

    /// Reads up to `count` bytes from `offset` on; fewer only at the end of the file.
    func read(_ count: Int, at offset: Int = 0) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(SystemError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Fills a buffer with the bytes from `offset` on; returns how many there were, fewer only at the end of the file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let read = try Self.call("pread") { Glibc.pread(number, rest.baseAddress, rest.count, off_t(offset + filled)) }
            if read == 0 { break }
            filled += read
        }
        return filled
    }

    /// Writes all of `bytes` at `offset`.
    func write(_ bytes: [UInt8], at offset: Int = 0) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                do throws(SystemError) {
                    done += try Self.call("pwrite") {
                        Glibc.pwrite(number, rest.baseAddress, rest.count, off_t(offset + done))
                    }
                } catch {
                    failure = error
                    return
                }
            }
        }
        if let failure { throw failure }
    }

    /// Cuts the file off, or lengthens it with a hole.
    func truncate(to size: Int) throws(SystemError) {
        try Self.call("ftruncate") { Glibc.ftruncate(number, off_t(size)) }
    }

    /// Returns when the contents and what is needed to read them are on disk.
    func synchronizeData() throws(SystemError) {
        try Self.call("fdatasync") { Glibc.fdatasync(number) }
    }

    /// Returns when the file or folder is on disk.
    func synchronize() throws(SystemError) {
        try Self.call("fsync") { Glibc.fsync(number) }
    }

    /// Returns when all of the file system that this lies on is on disk.
    func synchronizeFileSystem() throws(SystemError) {
        guard let syncfs = Self.syncfs else {
            Glibc.sync()
            return
        }
        try Self.call("syncfs") { syncfs(number) }
    }

    /// `int syncfs(int fd)`, which Swift's Glibc module leaves out. Looked up by name, so its type is C's own.
    private static let syncfs: (@convention(c) (Int32) -> Int32)? = dlsym(nil, "syncfs").map {
        unsafeBitCast($0, to: (@convention(c) (Int32) -> Int32).self)
    }

    /// Locks the file for this process; false when another process, or another store in this one, holds the lock.
    func lock() throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Self.call("flock") { Self.changeLock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Gives up the lock.
    func unlock() {
        _ = Self.changeLock(number, LOCK_UN)
    }

    /// The type tells the function from the structure of the same name.
    private static let changeLock: @Sendable (Int32, Int32) -> Int32 = flock
}
