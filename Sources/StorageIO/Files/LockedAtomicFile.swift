package import DocumentModel
internal import Glibc
internal import Synchronization

/// A small file that is read and replaced as a whole.
///
/// Several processes may modify it, such as the server and a command-line tool. A lock file serializes them.
package final class LockedAtomicFile: AtomicRecord {
    package let name: String
    private let folder: SharedFileDescriptor
    private let folderName: String
    private let queue: WorkQueue
    private let isPrivate: Bool
    private let readCount = Mutex(0)

    /// The maximum size, far above any practical size.
    private static let maximumBytes = 16 << 20
    /// The number of attempts to acquire the lock, over about 5 seconds. A process holds it for a few milliseconds.
    private static let maximumLockAttempts = 500
    private static let retryMicroseconds: UInt32 = 10_000

    /// Creates the file's handle. The file need not exist.
    ///
    /// - Parameters:
    ///   - folderName: The folder in words.
    ///   - queue: A queue of width 1 that runs the reads and writes.
    ///   - isPrivate: True if only its owner may read it.
    package init(
        _ name: String,
        in folder: SharedFileDescriptor,
        folderName: String = "the data folder",
        queue: WorkQueue,
        isPrivate: Bool
    ) {
        self.name = name
        self.folder = folder
        self.folderName = folderName
        self.queue = queue
        self.isPrivate = isPrivate
    }

    /// The name of the lock file of a file.
    package static func lockName(of name: String) -> String { name + ".lock" }

    package func version() async throws(StatusError) -> AtomicRecordVersion? {
        try await queue.run { [name, folder, folderName] () throws(StatusError) in
            let status = try reporting("get the status of", name, in: folderName) { () throws(FileSystemError) in
                try folder.descriptor.status(of: name)
            }
            return status.map { .file($0.identity) }
        }
    }

    package func snapshot() async throws(StatusError) -> AtomicRecordSnapshot {
        try await queue.run { () throws(StatusError) in try self.read() }
    }

    package func update(
        _ change: @escaping @Sendable ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) async throws(StatusError) -> AtomicRecordSnapshot {
        try await queue.run { () throws(StatusError) in
            let lock = try self.acquireLock()
            defer { lock.unlock() }
            let current = try self.read()
            guard let bytes = try change(current.bytes) else { return current }
            try self.write(bytes)
            return try self.read()
        }
    }

    private func read() throws(StatusError) -> AtomicRecordSnapshot {
        let number = readCount.withLock { number in
            number += 1
            return number
        }
        do throws(FileSystemError) {
            let file = try folder.descriptor.openFile(name, for: .reading)
            let status = try file.status()
            let bytes = try file.read(min(status.size, Self.maximumBytes))
            return AtomicRecordSnapshot(bytes: bytes, version: .file(status.identity), number: number)
        } catch {
            if error.isNotFound { return AtomicRecordSnapshot(bytes: nil, version: nil, number: number) }
            throw error.status("read", name, in: folderName)
        }
    }

    private func write(_ bytes: [UInt8]) throws(StatusError) {
        try reporting("write", name, in: folderName) { () throws(FileSystemError) in
            try folder.descriptor.replaceFile(
                name,
                with: bytes,
                through: TemporaryName.fixed(name),
                isPrivate: isPrivate
            )
        }
    }

    private func acquireLock() throws(StatusError) -> FileDescriptor {
        let lockName = Self.lockName(of: name)
        let lock = try reporting("open", lockName, in: folderName) { () throws(FileSystemError) in
            try folder.descriptor.openFile(lockName, for: .updatingOrCreating)
        }
        for _ in 0..<Self.maximumLockAttempts {
            if try reporting("lock", lockName, in: folderName, { () throws(FileSystemError) in try lock.lock() }) { return lock }
            usleep(Self.retryMicroseconds)
        }
        throw StatusError(
            .unavailable,
            "Another process has held the lock on \(name) in \(folderName) for several seconds. Stop that process and retry."
        )
    }
}
