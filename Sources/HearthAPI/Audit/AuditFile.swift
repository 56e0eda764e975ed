import DocumentModel
import StorageIO
import UTF8Text

/// The file of an audit log, to which complete lines are appended, each of them durable.
///
/// At ``maximumBytes``, it is renamed to `NAME.N`, where N is the number of its last line, and a new one begins. Renamed files are never
/// changed or removed. The file is locked against other writers while it is open.
struct AuditFile {
    private let folder: SharedFileDescriptor
    private let name: String
    private let maximumBytes: Int
    private var file: LockedFile
    private var size: Int
    private var chain: AuditChain

    /// The number of bytes after which a new file begins.
    static let standardMaximumBytes = 64 << 20
    /// The maximum number of bytes of a line.
    static let maximumLineBytes = 64 << 10

    /// Opens a file, or creates it, accessible to its owner only. An incomplete line at its end, which was never acknowledged, is removed.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` if another process writes to the file, ``StatusCode/dataLoss`` if its last line is none
    ///   of an audit log; the file system's error if it cannot be opened.
    init(path: String, maximumBytes: Int = standardMaximumBytes) throws(StatusError) {
        let (parent, name) = Self.split(path)
        guard !name.isEmpty else {
            throw StatusError(.invalidArgument, "The audit log \(Excerpt(path)) is not the path of a file.")
        }
        self.name = name
        self.maximumBytes = maximumBytes
        chain = AuditChain()
        do throws(FileSystemError) {
            folder = SharedFileDescriptor(try FileDescriptor.folder(atPath: parent))
            file = try LockedFile(folder.descriptor.openFile(name, for: .updatingOrCreating))
            size = try file.descriptor.status().size
            // Before the first line is acknowledged, the file must have its name.
            if size == 0 { try folder.descriptor.synchronize() }
        } catch {
            throw StatusError(.failedPrecondition, "Cannot open the audit log \(Excerpt(path)): \(error).", cause: error)
        }
        guard file.isLocked else {
            throw StatusError(
                .failedPrecondition,
                "Another process writes to the audit log \(Excerpt(path)). Choose another file."
            )
        }
        do {
            try continueChain()
        } catch let error as StatusError {
            throw StatusError(error.code, "The audit log \(Excerpt(path)) cannot be continued: \(error.message).", cause: error)
        } catch {
            throw StatusError(.failedPrecondition, "Cannot read the audit log \(Excerpt(path)): \(error).", cause: error)
        }
    }

    /// Finds the last line, from which the chain goes on.
    private mutating func continueChain() throws {
        let start = max(0, size - 2 * Self.maximumLineBytes)
        let bytes = try file.descriptor.read(size - start, at: start)
        let complete = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if complete < bytes.count {
            size = start + complete
            try file.descriptor.truncate(to: size)
        }
        if let last = bytes[..<complete].split(separator: UInt8(ascii: "\n")).last { return try chain.append(Array(last)) }
        // A crash between renaming the last file and the first line of this one.
        if let rotated = try AuditFile.rotatedNumbers(of: name, in: folder.descriptor).last {
            let earlier = try folder.descriptor.openFile("\(name).\(rotated)", for: .reading)
            let end = try earlier.status().size
            let tail = try earlier.read(min(end, Self.maximumLineBytes), at: max(0, end - Self.maximumLineBytes))
            if let last = tail.split(separator: UInt8(ascii: "\n")).last { try chain.append(Array(last)) }
        }
    }

    /// Appends an event. Durable when this returns.
    mutating func append(_ event: AuditEvent) throws(FileSystemError) {
        if size >= maximumBytes { try rotate() }
        let number = (chain.number ?? 0) + 1
        let line = event.line(number: number, previous: chain.digest)
        do throws(FileSystemError) {
            try file.descriptor.write(line + [UInt8(ascii: "\n")], at: size)
            try file.descriptor.synchronizeData()
        } catch {
            // A part of the line may have been written.
            try? file.descriptor.truncate(to: size)
            throw error
        }
        size += line.count + 1
        chain.accept(line, number: number)
    }

    private mutating func rotate() throws(FileSystemError) {
        try folder.descriptor.rename(name, to: "\(name).\(chain.number ?? 0)")
        file = try LockedFile(folder.descriptor.openFile(name, for: .creating))
        try folder.descriptor.synchronize()
        size = 0
    }
}

extension AuditFile {
    /// Splits the path of a file into the path of its folder and its name.
    static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        return (String(Substring(path.utf8[...slash])), String(Substring(path.utf8[path.utf8.index(after: slash)...])))
    }

    /// Returns the numbers of the renamed files of a log, in ascending order.
    static func rotatedNumbers(of name: String, in folder: borrowing FileDescriptor) throws(FileSystemError) -> [Int] {
        var numbers: [Int] = []
        var listing = try folder.openForListing()
        while let entry = try listing.next() {
            guard entry.text.utf8.starts(with: "\(name).".utf8),
                let number = String(entry.text.utf8.dropFirst(name.utf8.count + 1)).flatMap({ Int($0) })
            else { continue }
            numbers.append(number)
        }
        return numbers.sorted()
    }
}

/// An open file that is accessible to its owner only, and locked as long as this object exists.
private final class LockedFile: Sendable {
    let descriptor: FileDescriptor
    /// False if another process has locked it.
    let isLocked: Bool

    init(_ descriptor: consuming FileDescriptor) throws(FileSystemError) {
        try descriptor.makePrivate()
        isLocked = try descriptor.lock()
        self.descriptor = descriptor
    }

    deinit {
        // Closing is not enough: a process that is being started holds a copy of the descriptor for a moment.
        descriptor.unlock()
    }
}
