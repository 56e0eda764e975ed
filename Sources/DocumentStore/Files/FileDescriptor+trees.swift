extension FileDescriptor {
    /// Removes an entry of this folder and, where it is a folder, all that is in it, for as long as that is wanted. Symbolic links
    /// are removed and not followed.
    ///
    /// Names need not be UTF-8: whatever people have put into a folder goes with it. The depth of the recursion is that of the
    /// folders.
    ///
    /// - Returns: Whether all of it is gone.
    func removeTree(_ entry: FolderListing.Entry, while isWanted: () -> Bool) throws(SystemError) -> Bool {
        guard isWanted() else { return false }
        guard try kind(of: entry) == .folder else {
            try removeFile(entry.cString)
            return true
        }
        guard try openFolder(entry.cString).removeContents(while: isWanted) else { return false }
        try removeFolder(entry.cString)
        return true
    }

    /// Removes everything in this folder. What was listed may be removed while the listing goes on: POSIX leaves open only whether
    /// entries are still listed that are removed before their turn.
    private func removeContents(while isWanted: () -> Bool) throws(SystemError) -> Bool {
        var listing = try openForListing()
        while let entry = try listing.next() {
            guard try removeTree(entry, while: isWanted) else { return false }
        }
        return true
    }
}
