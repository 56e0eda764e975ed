internal import Glibc

extension FileDescriptor {
    /// Removes an entry of this folder and, where it is a folder, all that is in it. Symbolic links are removed and not followed.
    ///
    /// Names need not be UTF-8: whatever people have put into a folder goes with it.
    func removeTree(_ entry: FolderListing.Entry) throws(SystemError) {
        let name = entry.name.map { CChar(bitPattern: $0) } + [0]
        if try kind(ofEntry: name, entry) == .folder {
            try openFolder(name).removeContents()
            try remove(name, flags: AT_REMOVEDIR)
        } else {
            try remove(name, flags: 0)
        }
    }

    /// Removes everything in this folder. The depth of the recursion is that of the folders.
    private func removeContents() throws(SystemError) {
        var entries: [FolderListing.Entry] = []
        var listing = try openForListing()
        while let entry = try listing.next() { entries.append(entry) }
        for entry in entries { try removeTree(entry) }
    }

    private func kind(ofEntry name: [CChar], _ entry: FolderListing.Entry) throws(SystemError) -> FileStatus.Kind? {
        if let kind = entry.kind { return kind }
        var status = Glibc.stat()
        try Self.call("fstatat") { Glibc.fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status).kind
    }

    private func remove(_ name: [CChar], flags: Int32) throws(SystemError) {
        do throws(SystemError) {
            try Self.call("unlinkat") { Glibc.unlinkat(number, name, flags) }
        } catch {
            guard error.isNotFound else { throw error }
        }
    }
}
