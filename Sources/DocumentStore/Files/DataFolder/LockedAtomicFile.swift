package import DocumentModel
internal import Glibc
internal import Synchronization

/// A small top-level file of a data folder that is read and replaced as a whole.
///
/// Several processes may modify it, such as a server and a command. A lock file serializes them, and readers see one version or
/// the other, never a mixture. Only the owner of the data folder can read it.
package final class LockedAtomicFile: Sendable {
    /// The version of the file.
    package struct Version: Hashable, Sendable {
        fileprivate let identity: FileIdentity
    }

    /// The contents of the file at a point in time.
    package struct Snapshot: Sendable {
        /// The contents; nil if the file doesn't exist.
        package let bytes: [UInt8]?
        package let version: Version?
        /// The sequence number of the read, which orders snapshots.
        package let number: Int
    }

    /// The files of this type in a data folder.
    package enum Name: String, CaseIterable, Sendable {
        /// The API keys.
        case keys = "keys.json"

        fileprivate var lock: String { rawValue + ".lock" }
        fileprivate var temporary: String { TemporaryName.fixed(rawValue) }
    }

    private let name: Name
    private let root: SharedFileDescriptor
    private let queue: WorkQueue
    private let readCount = Mutex(0)

    /// The maximum size, far above any practical size.
    private static let maximumBytes = 16 << 20
    /// The number of attempts to acquire the lock, about 5 seconds. A process holds it for a few milliseconds.
    private static let maximumLockAttempts = 500
    private static let retryMicroseconds: UInt32 = 10_000

    private init(_ name: Name, root: SharedFileDescriptor, queue: WorkQueue) {
        self.name = name
        self.root = root
        self.queue = queue
    }

    /// Opens a file in a data folder, which may be open in a server. The file need not exist.
    ///
    /// - Parameter createsFolder: True to create the data folder if it doesn't exist.
    /// - Throws: `.notFound` if the folder doesn't exist; `.failedPrecondition` if it is not a data folder, or belongs to another
    ///   user.
    package static func open(
        _ name: Name,
        inFolder path: String,
        creatingFolder createsFolder: Bool = false
    ) async throws(StatusError) -> LockedAtomicFile {
        let queue = WorkQueue(label: "hearth.\(name)", width: 1)
        let root = try await queue.run { () throws(StatusError) in
            SharedFileDescriptor(try DataFolder.openRoot(path, creating: createsFolder))
        }
        return LockedAtomicFile(name, root: root, queue: queue)
    }

    /// Returns the current version, or nil if the file doesn't exist.
    package func version() async throws(StatusError) -> Version? {
        try await queue.run { [name, root] () throws(StatusError) in
            let status = try reporting("get the status of", name.rawValue) { () throws(FileSystemError) in
                try root.descriptor.status(of: name.rawValue)
            }
            return status.map { Version(identity: $0.identity) }
        }
    }

    /// Reads the file.
    package func snapshot() async throws(StatusError) -> Snapshot {
        try await queue.run { () throws(StatusError) in try self.read() }
    }

    /// Replaces the file by the result of `change`, under the lock. Durable when this returns.
    ///
    /// - Parameter change: Receives the current bytes, or nil if the file doesn't exist, and returns the new ones, or nil to keep
    ///   the file unchanged.
    package func update(
        _ change: @escaping @Sendable ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) async throws(StatusError) -> Snapshot {
        try await queue.run { () throws(StatusError) in
            let lock = try self.acquireLock()
            defer { lock.unlock() }
            let current = try self.read()
            guard let bytes = try change(current.bytes) else { return current }
            try self.write(bytes)
            return try self.read()
        }
    }

    private func read() throws(StatusError) -> Snapshot {
        let number = readCount.withLock { number in
            number += 1
            return number
        }
        do throws(FileSystemError) {
            let file = try root.descriptor.openFile(name.rawValue, for: .reading)
            let status = try file.status()
            let bytes = try file.read(min(status.size, Self.maximumBytes))
            return Snapshot(bytes: bytes, version: Version(identity: status.identity), number: number)
        } catch {
            if error.isNotFound { return Snapshot(bytes: nil, version: nil, number: number) }
            throw error.status("read", name.rawValue)
        }
    }

    private func write(_ bytes: [UInt8]) throws(StatusError) {
        try reporting("write", name.rawValue) { () throws(FileSystemError) in
            try root.descriptor.replaceFile(name.rawValue, with: bytes, through: name.temporary)
        }
    }

    private func acquireLock() throws(StatusError) -> FileDescriptor {
        let lock = try reporting("open", name.lock) { () throws(FileSystemError) in
            try root.descriptor.openFile(name.lock, for: .updatingOrCreating)
        }
        for _ in 0..<Self.maximumLockAttempts {
            if try reporting("lock", name.lock, { () throws(FileSystemError) in try lock.lock() }) { return lock }
            usleep(Self.retryMicroseconds)
        }
        throw StatusError(
            .unavailable,
            "Another process has held the lock on \(name.rawValue) in the data folder for several seconds. Stop it, and retry."
        )
    }
}

extension LockedAtomicFile.Name {
    /// The names of files that may exist before the data folder has a manifest.
    static var fileNames: [String] {
        allCases.flatMap { [$0.rawValue, $0.lock] }
    }
}
