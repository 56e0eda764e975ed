internal import CLinux
internal import Glibc

extension FileDescriptor {
    /// Returns the number of bytes on the file system that are available to unprivileged processes.
    package func freeBytes() throws(FileSystemError) -> Int {
        try diskSpace().free
    }

    /// Returns the number of inodes of the file system, and the number of those available to unprivileged processes; `nil` if the
    /// file system creates inodes as needed, as btrfs does.
    package func inodes() throws(FileSystemError) -> (total: Int, free: Int)? {
        let status = try fileSystemStatus()
        return status.f_files == 0 ? nil : (Int(clamping: status.f_files), Int(clamping: status.f_favail))
    }

    private func fileSystemStatus() throws(FileSystemError) -> statvfs {
        var status = statvfs()
        try Self.call("fstatvfs") { Glibc.fstatvfs(number, &status) }
        return status
    }

    /// Returns the size of the file system in bytes, and the number of bytes available to unprivileged processes.
    package func diskSpace() throws(FileSystemError) -> (total: Int, free: Int) {
        let status = try fileSystemStatus()
        let bytes = { (blocks: UInt) in
            let (bytes, overflows) = UInt64(blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
            return overflows ? .max : Int(clamping: bytes)
        }
        return (bytes(status.f_blocks), bytes(status.f_bavail))
    }

    /// Returns the current status of the file.
    package func status() throws(FileSystemError) -> FileStatus {
        var status = Glibc.stat()
        try Self.call("fstat") { Glibc.fstat(number, &status) }
        return FileStatus(status)
    }

    /// Sets the modification time of the file, in microseconds since 1970.
    package func setModificationTime(microseconds: Int64) throws(FileSystemError) {
        let (seconds, fraction) = microseconds.floored(by: 1_000_000)
        let times = [
            timespec(tv_sec: 0, tv_nsec: Self.omittedTime),
            timespec(tv_sec: Int(seconds), tv_nsec: Int(fraction * 1_000)),
        ]
        try Self.call("futimens") { Glibc.futimens(number, times) }
    }

    /// Sets the modification time of the file, unless the file system does not permit it, as some network file systems do.
    package func setModificationTimeIfPermitted(microseconds: Int64) throws(FileSystemError) {
        do throws(FileSystemError) {
            try setModificationTime(microseconds: microseconds)
        } catch {
            guard [EPERM, EACCES, EINVAL, ENOSYS, ENOTSUP].contains(error.code) else { throw error }
        }
    }

    /// `UTIME_OMIT`, whose macro Swift cannot import: leaves a time as it is.
    private static let omittedTime = (1 << 30) - 2

    /// Lets only the owner read and write this file, whatever ``GroupAccess`` allows.
    package func makePrivate() throws(FileSystemError) {
        try Self.call("fchmod") { fchmod(number, 0o600) }
    }

    /// Lets nobody write this file, except through descriptors that are open, unless the file system does not permit it, as some do that
    /// keep no modes.
    package func makeReadOnlyIfPermitted() throws(FileSystemError) {
        var status = Glibc.stat()
        try Self.call("fstat") { Glibc.fstat(number, &status) }
        do throws(FileSystemError) {
            try Self.call("fchmod") { fchmod(number, status.st_mode & 0o7555) }
        } catch {
            guard [EPERM, EACCES, EINVAL, ENOSYS, ENOTSUP].contains(error.code) else { throw error }
        }
    }

    /// Replaces a file in this folder atomically: writes a temporary file, syncs it, renames it, and syncs the folder.
    ///
    /// Durable when this returns.
    ///
    /// - Parameter isPrivate: True for a file that only its owner may read, whatever ``GroupAccess`` allows.
    package func replaceFile(
        _ name: String,
        with bytes: [UInt8],
        through temporaryName: String,
        isPrivate: Bool = false
    ) throws(FileSystemError) {
        try removeFile(temporaryName)
        let file = try openFile(temporaryName, for: .creating)
        if isPrivate { try file.makePrivate() }
        try file.write(bytes)
        try file.synchronize()
        try rename(temporaryName, to: name)
        try synchronize()
    }

    /// Reads up to `maximumBytes` bytes of a file in this folder, or returns `nil` if it doesn't exist.
    package func contents(ofFile name: String, maximumBytes: Int) throws(FileSystemError) -> [UInt8]? {
        do throws(FileSystemError) {
            let file = try openFile(name, for: .reading)
            return try file.read(min(file.status().size, maximumBytes))
        } catch {
            guard error.isNotFound else { throw error }
            return nil
        }
    }

    /// Evicts the file's clean pages from the page cache, including pages that failed to be written, so that reads go to the disk.
    package func evictPageCache() throws(FileSystemError) {
        let code = posix_fadvise(number, 0, 0, Int32(POSIX_FADV_DONTNEED))
        guard code == 0 else { throw FileSystemError("posix_fadvise", code: code) }
    }

    /// Reads `count` bytes from `offset`, or fewer at the end of the file.
    package func read(_ count: Int, at offset: Int = 0) throws(FileSystemError) -> [UInt8] {
        var failure: FileSystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            do throws(FileSystemError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads into a buffer from `offset`, and returns the number of bytes read, which is less than its size only at the end of
    /// the file.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileSystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let read = try Self.call("pread") { Glibc.pread(number, rest.baseAddress, rest.count, off_t(offset + filled)) }
            if read == 0 { break }
            filled += read
        }
        return filled
    }

    /// Writes all bytes at `offset`.
    package func write(_ bytes: [UInt8], at offset: Int = 0) throws(FileSystemError) {
        var failure: FileSystemError?
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                do throws(FileSystemError) {
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

    /// Truncates the file, or extends it with a hole.
    package func truncate(to size: Int) throws(FileSystemError) {
        try Self.call("ftruncate") { Glibc.ftruncate(number, off_t(size)) }
    }

    /// Allocates disk space for the first bytes of the file, without writing them.
    package func allocate(_ byteCount: Int) throws(FileSystemError) {
        try Self.call("fallocate") { clinux_allocate(number, off_t(byteCount)) }
    }

    /// Syncs the contents and the metadata required to read them (`fdatasync`).
    package func synchronizeData() throws(FileSystemError) {
        try Self.call("fdatasync") { Glibc.fdatasync(number) }
    }

    /// Syncs the file or folder (`fsync`).
    package func synchronize() throws(FileSystemError) {
        try Self.call("fsync") { Glibc.fsync(number) }
    }

    /// Syncs the entire file system (`syncfs`).
    package func synchronizeFileSystem() throws(FileSystemError) {
        guard let syncfs = Self.syncfs else {
            Glibc.sync()
            return
        }
        try Self.call("syncfs") { syncfs(number) }
    }

    /// `int syncfs(int fd)`, which Swift's Glibc module doesn't export, looked up by name.
    private static let syncfs: (@convention(c) (Int32) -> Int32)? = dlsym(nil, "syncfs").map {
        unsafeBitCast($0, to: (@convention(c) (Int32) -> Int32).self)
    }

    /// Acquires an exclusive lock without waiting (`flock`). Returns `false` if another process or another open file description
    /// holds it.
    package func lock() throws(FileSystemError) -> Bool {
        do throws(FileSystemError) {
            try Self.call("flock") { Self.changeLock(number, LOCK_EX | LOCK_NB) }
            return true
        } catch {
            guard error.code == EWOULDBLOCK else { throw error }
            return false
        }
    }

    /// Releases the lock.
    package func unlock() {
        _ = Self.changeLock(number, LOCK_UN)
    }

    /// The type annotation selects the function over the struct of the same name.
    private static let changeLock: @Sendable (Int32, Int32) -> Int32 = flock
}

extension Int64 {
    /// Returns the quotient rounded down, and the remainder, which is not negative.
    fileprivate func floored(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
