internal import DocumentModel

/// Files that are complete before they get the name that readers know.
///
/// Where nothing has that name yet, and the file system can do it (ext4, XFS, btrfs, tmpfs), a file has no name at all until then:
/// giving it its only name costs half of what making a name and changing it does, and a crash leaves nothing behind.
struct TemporaryFiles {
    /// A file that is complete, but for its name.
    enum File {
        case named(String)
        /// Open as long as it has no name.
        case unnamed(SharedDescriptor)
    }

    /// Whether one could not be removed, and stays until a ``TemporarySweep`` removes it.
    private(set) var isOneLeft: Bool

    private var count: UInt64 = 0
    /// How many more files may be open that have no name; nil before it was tried whether the file system can do it.
    private var unnamedRoom: Int?

    init(isOneLeft: Bool) {
        self.isOneLeft = isOneLeft
    }

    /// How many files without a name are open at most: enough for usual commits, and few of those that a server may have open.
    private static let maximumUnnamedFiles = 512

    /// Writes a file.
    ///
    /// - Parameter isReplacing: Whether something has the name that it is to get.
    mutating func write(
        _ bytes: [UInt8],
        in folder: borrowing FileDescriptor,
        isReplacing: Bool
    ) throws(SystemError) -> (file: File, identity: FileIdentity) {
        if !isReplacing, let file = makeUnnamed(in: folder) {
            try file.descriptor.write(bytes)
            let identity = try file.descriptor.status().identity
            unnamedRoom? -= 1
            return (.unnamed(file), identity)
        }
        let made = try make(in: folder)
        do throws(SystemError) {
            try made.file.write(bytes)
            return (.named(made.name), try made.file.status().identity)
        } catch {
            remove(made.name, from: folder)
            throw error
        }
    }

    /// Gives a file its name, in the folder that it was written in. Where that fails there is nothing left of it.
    mutating func install(_ file: File, as name: String, in folder: borrowing FileDescriptor) throws(SystemError) {
        switch file {
        case .named(let temporary):
            try rename(temporary, to: name, in: folder)
        case .unnamed(let file):
            unnamedRoom? += 1
            do throws(SystemError) {
                try folder.link(file.descriptor, as: name)
            } catch {
                // Somebody made a file of that name meanwhile.
                guard error.isTaken else { throw error }
                try rename(try link(file.descriptor, in: folder), to: name, in: folder)
            }
        }
    }

    /// Removes a file that gets no name.
    mutating func discard(_ file: File, in folder: borrowing FileDescriptor) {
        switch file {
        case .named(let name): remove(name, from: folder)
        case .unnamed: unnamedRoom? += 1
        }
    }

    /// Gives up a file whose folder can't be opened any more.
    mutating func abandon(_ file: File) {
        switch file {
        case .named: isOneLeft = true
        case .unnamed: unnamedRoom? += 1
        }
    }
}

extension TemporaryFiles {
    private mutating func makeUnnamed(in folder: borrowing FileDescriptor) -> SharedDescriptor? {
        let room = unnamedRoom ?? (canNameLater(in: folder) ? Self.maximumUnnamedFiles : 0)
        unnamedRoom = room
        guard room > 0, let file = try? folder.makeUnnamedFile() else { return nil }
        return SharedDescriptor(file)
    }

    /// Whether files can be given a name later, which takes a file system that can, and privileges, Linux 6.10 or `/proc`.
    private mutating func canNameLater(in folder: borrowing FileDescriptor) -> Bool {
        do throws(SystemError) {
            remove(try link(try folder.makeUnnamedFile(), in: folder), from: folder)
            return true
        } catch {
            return false
        }
    }

    private struct Named: ~Copyable {
        let file: FileDescriptor
        let name: String
    }

    private mutating func make(in folder: borrowing FileDescriptor) throws(SystemError) -> Named {
        try withFreeName { name throws(SystemError) in
            Named(file: try folder.openFile(name, for: .creating), name: name)
        }
    }

    private mutating func link(
        _ file: borrowing FileDescriptor,
        in folder: borrowing FileDescriptor
    ) throws(SystemError) -> String {
        try withFreeName { name throws(SystemError) in
            try folder.link(file, as: name)
            return name
        }
    }

    /// Gives `body` a temporary name, and another one while a file has it that could not be removed after a crash.
    private mutating func withFreeName<Result: ~Copyable>(
        _ body: (String) throws(SystemError) -> Result
    ) throws(SystemError) -> Result {
        while true {
            count += 1
            do throws(SystemError) {
                return try body(TemporaryName.numbered(count))
            } catch {
                guard error.isTaken else { throw error }
            }
        }
    }

    private mutating func rename(
        _ temporary: String,
        to name: String,
        in folder: borrowing FileDescriptor
    ) throws(SystemError) {
        do throws(SystemError) {
            try folder.rename(temporary, to: name)
        } catch {
            remove(temporary, from: folder)
            throw error
        }
    }

    private mutating func remove(_ name: String, from folder: borrowing FileDescriptor) {
        if (try? folder.removeFile(name)) == nil { isOneLeft = true }
    }
}
