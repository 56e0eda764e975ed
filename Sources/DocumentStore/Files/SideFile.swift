package import DocumentModel
internal import Glibc
internal import Synchronization

/// A small file beside the documents in a data folder, that is read and replaced as a whole.
///
/// Several processes may change it, a server and a command while that runs: they take turns by a lock of the file's own, and who
/// reads sees one version or another, never a mixture. Only the owner of the data folder may read it.
package final class SideFile: Sendable {
    /// One version of the file.
    package struct Version: Hashable, Sendable {
        fileprivate let identity: FileIdentity
    }

    /// What stood in the file at a time.
    package struct Reading: Sendable {
        /// Nil when there was no file.
        package let bytes: [UInt8]?
        package let version: Version?
        /// Larger for each further reading, so that what was read later can be told.
        package let number: Int
    }

    /// What has a name in a data folder besides Hearth's other files.
    package enum Name: String, CaseIterable, Sendable {
        /// Who may call.
        case keys = "keys.json"

        fileprivate var lock: String { rawValue + ".lock" }
        fileprivate var temporary: String { TemporaryName.fixed(rawValue) }
    }

    private let name: Name
    private let root: SharedDescriptor
    private let queue: WorkQueue
    private let readings = Mutex(0)

    /// Much more than anybody needs.
    private static let maximumBytes = 16 << 20
    /// How long another process may keep the lock, which it needs for a few milliseconds.
    private static let patience = 500
    private static let pauseMicroseconds: UInt32 = 10_000

    private init(_ name: Name, root: SharedDescriptor, queue: WorkQueue) {
        self.name = name
        self.root = root
        self.queue = queue
    }

    /// Opens the file's place in a data folder, which a server may have open. The file need not exist.
    ///
    /// - Parameter makesFolder: Whether to make a data folder that does not exist.
    /// - Throws: `.notFound` when there is no such folder; `.failedPrecondition` when it is not Hearth's, or another user's.
    package static func open(
        _ name: Name,
        inFolder path: String,
        makingFolder makesFolder: Bool = false
    ) async throws(StatusError) -> SideFile {
        let queue = WorkQueue(label: "hearth.\(name)", width: 1)
        let root = try await queue.run { () throws(StatusError) in
            SharedDescriptor(try DataFolder.openRoot(path, making: makesFolder))
        }
        return SideFile(name, root: root, queue: queue)
    }

    /// Which version there is; nil when there is no file.
    package func version() async throws(StatusError) -> Version? {
        try await queue.run { [name, root] () throws(StatusError) in
            let status = try reporting("look at", name.rawValue) { () throws(SystemError) in
                try root.descriptor.status(of: name.rawValue)
            }
            return status.map { Version(identity: $0.identity) }
        }
    }

    /// What stands in the file.
    package func reading() async throws(StatusError) -> Reading {
        try await queue.run { () throws(StatusError) in try self.read() }
    }

    /// Replaces the file by what `change` makes of it; on disk when this returns.
    ///
    /// - Parameter change: Gets the file's bytes, nil when there is none, and gives the new ones, or nil to leave the file.
    package func replace(
        _ change: @escaping @Sendable ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) async throws(StatusError) -> Reading {
        try await queue.run { () throws(StatusError) in
            let lock = try self.takeLock()
            defer { lock.unlock() }
            let found = try self.read()
            guard let bytes = try change(found.bytes) else { return found }
            try self.write(bytes)
            return try self.read()
        }
    }

    private func read() throws(StatusError) -> Reading {
        let number = readings.withLock { number in
            number += 1
            return number
        }
        do throws(SystemError) {
            let file = try root.descriptor.openFile(name.rawValue, for: .reading)
            let status = try file.status()
            let bytes = try file.read(min(status.size, Self.maximumBytes))
            return Reading(bytes: bytes, version: Version(identity: status.identity), number: number)
        } catch {
            if error.isNotFound { return Reading(bytes: nil, version: nil, number: number) }
            throw error.status("read", name.rawValue)
        }
    }

    private func write(_ bytes: [UInt8]) throws(StatusError) {
        try reporting("write", name.rawValue) { () throws(SystemError) in
            try root.descriptor.replaceFile(name.rawValue, with: bytes, through: name.temporary)
        }
    }

    private func takeLock() throws(StatusError) -> FileDescriptor {
        let lock = try reporting("open", name.lock) { () throws(SystemError) in
            try root.descriptor.openFile(name.lock, for: .updatingOrCreating)
        }
        for _ in 0..<Self.patience {
            if try reporting("lock", name.lock, { () throws(SystemError) in try lock.lock() }) { return lock }
            usleep(Self.pauseMicroseconds)
        }
        throw StatusError(
            .unavailable,
            "Another process has been changing \(name.rawValue) in the data folder for some seconds. End it, and try again."
        )
    }
}

extension SideFile.Name {
    /// The names that may stand in a folder before it is a data folder.
    static var files: [String] {
        allCases.flatMap { [$0.rawValue, $0.lock] }
    }
}
