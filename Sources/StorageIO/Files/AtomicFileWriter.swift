/// A writer of files that become visible under their final names only when complete.
///
/// A new file is written as an unnamed file if the file system supports it (ext4, XFS, btrfs, tmpfs). Linking it costs half as
/// much as creating and renaming a temporary file, and a crash leaves nothing behind.
package struct AtomicFileWriter {
    /// A complete file that doesn't have its final name yet.
    package struct StagedFile {
        fileprivate enum Form {
            case named(String, isReplacing: Bool)
            /// Kept open until it is linked.
            case unnamed(SharedFileDescriptor)
        }

        fileprivate let form: Form
        /// The identity, which it keeps in place.
        package let identity: FileIdentity
    }

    /// The fate of a file that has got a temporary name because another one replaces it, or because it is to be removed.
    package enum Fate {
        /// It is removed, unless it has been given another name.
        case removed
        /// It gets its name back, and the file that would replace it is removed.
        case putBack
        /// It keeps the temporary name.
        case left
    }

    /// A function that decides on a file with a temporary name in a folder, and may give it another name. It is called again with false
    /// for `canPutBack` if the file could not be put back.
    package typealias Keeper = (_ temporary: String, _ folder: borrowing FileDescriptor, _ canPutBack: Bool) -> Fate

    /// True if a temporary file could not be removed, and remains until the temporary files are swept.
    package private(set) var hasLeftoverTemporaryFile: Bool

    /// The number of the last temporary name.
    private var count: UInt64 = 0
    /// The number of additional unnamed files that may be open; `nil` before the file system has been probed.
    private var remainingUnnamedFiles: Int?

    package init(hasLeftoverTemporaryFile: Bool) {
        self.hasLeftoverTemporaryFile = hasLeftoverTemporaryFile
    }

    /// The maximum number of open unnamed files: enough for typical commits, and a small part of the limit on open files.
    private static let maximumUnnamedFiles = 512

    /// Writes a staged file.
    ///
    /// - Parameters:
    ///   - time: The modification time that the file gets, in microseconds since 1970, where the file system permits it.
    ///   - isReplacing: True if a file with the final name exists.
    ///   - synchronizes: True to sync the file.
    package mutating func write(
        _ bytes: [UInt8],
        modifiedAt time: Int64,
        in folder: borrowing FileDescriptor,
        isReplacing: Bool,
        synchronizing synchronizes: Bool = false
    ) throws(FileSystemError) -> StagedFile {
        if !isReplacing, let file = createUnnamed(in: folder) {
            try file.descriptor.write(bytes)
            try file.descriptor.setModificationTimeIfPermitted(microseconds: time)
            if synchronizes { try file.descriptor.synchronize() }
            let identity = try file.descriptor.status().identity
            remainingUnnamedFiles? -= 1
            return StagedFile(form: .unnamed(file), identity: identity)
        }
        let created = try createNamed(in: folder)
        do throws(FileSystemError) {
            try created.file.write(bytes)
            try created.file.setModificationTimeIfPermitted(microseconds: time)
            if synchronizes { try created.file.synchronize() }
            return StagedFile(
                form: .named(created.name, isReplacing: isReplacing),
                identity: try created.file.status().identity
            )
        } catch {
            remove(created.name, from: folder)
            throw error
        }
    }

    /// Gives a staged file its final name in the same folder: links or renames it, or exchanges it with the file that it replaces. On
    /// failure the staged file is removed.
    ///
    /// - Parameter keep: Called before the replaced file is removed. Not called where the file system cannot exchange files.
    package mutating func moveIntoPlace(
        _ file: StagedFile,
        as name: String,
        in folder: borrowing FileDescriptor,
        keeping keep: Keeper? = nil
    ) throws(FileSystemError) {
        switch file.form {
        case .named(let temporary, let isReplacing):
            if isReplacing || keep != nil {
                try replace(name, with: temporary, file.identity, in: folder, keeping: keep)
            } else {
                try rename(temporary, to: name, in: folder)
            }
        case .unnamed(let descriptor):
            remainingUnnamedFiles? += 1
            do throws(FileSystemError) {
                try folder.link(descriptor.descriptor, as: name)
            } catch {
                // A file of that name was created in the meantime.
                guard error.alreadyExists else { throw error }
                let temporary = try link(descriptor.descriptor, in: folder)
                try replace(name, with: temporary, file.identity, in: folder, keeping: keep)
            }
        }
    }

    /// Removes a staged file.
    package mutating func discard(_ file: StagedFile, in folder: borrowing FileDescriptor) {
        switch file.form {
        case .named(let name, _): remove(name, from: folder)
        case .unnamed: remainingUnnamedFiles? += 1
        }
    }

    /// Abandons a staged file whose folder can no longer be opened.
    package mutating func abandon(_ file: StagedFile) {
        switch file.form {
        case .named: hasLeftoverTemporaryFile = true
        case .unnamed: remainingUnnamedFiles? += 1
        }
    }
}

extension AtomicFileWriter {
    private mutating func createUnnamed(in folder: borrowing FileDescriptor) -> SharedFileDescriptor? {
        let remaining = remainingUnnamedFiles ?? (supportsUnnamedFiles(in: folder) ? Self.maximumUnnamedFiles : 0)
        remainingUnnamedFiles = remaining
        guard remaining > 0, let file = try? folder.createUnnamedFile() else { return nil }
        return SharedFileDescriptor(file)
    }

    /// Returns whether unnamed files can be created and linked, which requires support by the file system and either privileges,
    /// Linux 6.10 or later, or `/proc`.
    private mutating func supportsUnnamedFiles(in folder: borrowing FileDescriptor) -> Bool {
        do throws(FileSystemError) {
            remove(try link(try folder.createUnnamedFile(), in: folder), from: folder)
            return true
        } catch {
            return false
        }
    }

    private struct NamedFile: ~Copyable {
        let file: FileDescriptor
        let name: String
    }

    private mutating func createNamed(in folder: borrowing FileDescriptor) throws(FileSystemError) -> NamedFile {
        try withUnusedName { name throws(FileSystemError) in
            NamedFile(file: try folder.openFile(name, for: .creating), name: name)
        }
    }

    private mutating func link(
        _ file: borrowing FileDescriptor,
        in folder: borrowing FileDescriptor
    ) throws(FileSystemError) -> String {
        try withUnusedName { name throws(FileSystemError) in
            try folder.link(file, as: name)
            return name
        }
    }

    /// Calls `body` with a temporary name, and retries with another one if a file of that name was left behind by a crash.
    private mutating func withUnusedName<Result: ~Copyable>(
        _ body: (String) throws(FileSystemError) -> Result
    ) throws(FileSystemError) -> Result {
        while true {
            count += 1
            do throws(FileSystemError) {
                return try body(TemporaryName.numbered(count))
            } catch {
                guard error.alreadyExists else { throw error }
            }
        }
    }

    /// Exchanges a staged file with the file that it replaces, and removes that.
    ///
    /// ext4 allocates the blocks of a file that is renamed over another one, and starts to write them (`auto_da_alloc`). That takes
    /// half of the time of a replacement, and makes syncs of other files wait; an exchange doesn't do it.
    private mutating func replace(
        _ name: String,
        with temporary: String,
        _ identity: FileIdentity,
        in folder: borrowing FileDescriptor,
        keeping keep: Keeper?
    ) throws(FileSystemError) {
        do throws(FileSystemError) {
            try folder.exchange(temporary, with: name)
        } catch {
            // There is no file, or the file system cannot exchange files.
            return try rename(temporary, to: name, in: folder)
        }
        switch keep?(temporary, folder, true) ?? .removed {
        case .removed: break
        case .left: return
        case .putBack:
            do throws(FileSystemError) {
                try putBack(temporary, as: name, insteadOf: identity, in: folder)
            } catch {
                if keep?(temporary, folder, false) == .left { return }
            }
        }
        do throws(FileSystemError) {
            try folder.removeFile(temporary)
        } catch {
            guard error.isFolder else {
                hasLeftoverTemporaryFile = true
                return
            }
            // A folder took the place of the file in the meantime.
            hasLeftoverTemporaryFile = true
            try folder.exchange(temporary, with: name)
            remove(temporary, from: folder)
            throw error
        }
    }

    /// Exchanges a replaced file with the one that has replaced it, so that the last file that others have given the name has it.
    ///
    /// - Parameter identity: The identity of the file that has the name, unless others have given it to another one.
    private func putBack(
        _ temporary: String,
        as name: String,
        insteadOf identity: FileIdentity,
        in folder: borrowing FileDescriptor
    ) throws(FileSystemError) {
        var earlier: FileIdentity? = identity
        repeat {
            let later = try folder.status(of: temporary)?.identity
            do throws(FileSystemError) {
                try folder.exchange(temporary, with: name)
            } catch {
                // The file was removed, which was later.
                if error.isNotFound { return }
                throw error
            }
            if try folder.status(of: temporary)?.identity == earlier { return }
            // Another one was given the name in the meantime, and is the last one.
            earlier = later
        } while true
    }

    private mutating func rename(
        _ temporary: String,
        to name: String,
        in folder: borrowing FileDescriptor
    ) throws(FileSystemError) {
        do throws(FileSystemError) {
            try folder.rename(temporary, to: name)
        } catch {
            remove(temporary, from: folder)
            throw error
        }
    }

    /// Removes a file, after it got a temporary name and `keep` has been called.
    ///
    /// - Returns: `false` if there is no file.
    package mutating func remove(
        _ name: String,
        from folder: borrowing FileDescriptor,
        keeping keep: Keeper
    ) throws(FileSystemError) -> Bool {
        let temporary: String
        do throws(FileSystemError) {
            temporary = try withUnusedName { temporary throws(FileSystemError) in
                try folder.renameWithoutReplacing(name, to: temporary)
                return temporary
            }
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
        switch keep(temporary, folder, true) {
        case .removed: break
        case .left: return true
        case .putBack:
            do throws(FileSystemError) {
                try folder.renameWithoutReplacing(temporary, to: name)
                return true
            } catch {
                // Another file was given the name in the meantime, and takes the place of this one.
                if !error.alreadyExists, keep(temporary, folder, false) == .left { return true }
            }
        }
        do throws(FileSystemError) {
            try folder.removeFile(temporary)
            return true
        } catch {
            // A folder took the place of the file in the meantime.
            do throws(FileSystemError) {
                try folder.renameWithoutReplacing(temporary, to: name)
            } catch {
                hasLeftoverTemporaryFile = true
            }
            throw error
        }
    }

    private mutating func remove(_ name: String, from folder: borrowing FileDescriptor) {
        if (try? folder.removeFile(name)) == nil { hasLeftoverTemporaryFile = true }
    }
}
