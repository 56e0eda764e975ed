package import DocumentModel
internal import Synchronization

extension DatabaseFolders {
    /// Moves a database that nobody has open out of its place, for good and in one step, so that no crash leaves half of it there;
    /// without effect when there is none. ``removeLeftovers()`` frees its room on the disk.
    package func remove(_ id: DatabaseID) async throws(StatusError) {
        try await queue.run { () throws(StatusError) in
            guard try self.holds(id) else { return }
            try reporting("remove", Self.name) { () throws(SystemError) in
                let all = try self.root.descriptor.openFolder(Self.name)
                let project = try all.openFolder(self.folderName(id.project))
                try project.moveAside(self.folderName(id.database), to: all)
                if try all.removeFolderIfEmpty(self.folderName(id.project)) { try all.synchronize() }
            }
        }
    }

    /// Removes what deleted databases have left, which may take long for a large one. Nobody else waits for it.
    ///
    /// - Throws: Why something can't be removed; all else is removed then.
    package func removeLeftovers() async throws(StatusError) {
        try await removals.run { () throws(StatusError) in
            var obstacle: StatusError?
            try reporting("list", Self.name) { () throws(SystemError) in
                guard let all = try self.root.descriptor.openFolderIfPresent(Self.name) else { return }
                var listing = try all.openForListing()
                while let entry = try listing.next(), !self.isRemovingStopped.load(ordering: .relaxed) {
                    guard TemporaryName.matches(entry.name) else { continue }
                    do throws(SystemError) {
                        _ = try all.removeTree(entry) { !self.isRemovingStopped.load(ordering: .relaxed) }
                    } catch {
                        obstacle = obstacle ?? error.status("remove", "\(Self.name)/\(entry.text)")
                    }
                }
            }
            if let obstacle { throw obstacle }
        }
    }

    /// Ends the removal of leftovers soon; the next start goes on with it.
    package func stopRemoving() {
        isRemovingStopped.store(true, ordering: .relaxed)
    }
}

extension FileDescriptor {
    /// Moves a folder of this folder to another one under a temporary name; on disk when this returns.
    fileprivate func moveAside(_ name: String, to other: borrowing FileDescriptor) throws(SystemError) {
        var number: UInt64 = 0
        while try other.status(of: TemporaryName.numbered(number)) != nil { number += 1 }
        try rename(name, to: TemporaryName.numbered(number), in: other)
        try synchronize()
        try other.synchronize()
    }

    /// Removes a folder from this folder; false when there is something in it, or none.
    fileprivate func removeFolderIfEmpty(_ name: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try removeFolder(name)
        } catch {
            guard error.isNotEmpty else { throw error }
            return false
        }
    }
}
