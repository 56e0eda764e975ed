package import DocumentModel

extension DatabaseFolders {
    /// Removes a database that nobody has open; without effect when there is none. When this returns, it is gone for good.
    ///
    /// It is moved aside in one step first, so that no crash leaves half of it in its place.
    package func remove(_ id: DatabaseID) async throws(StatusError) {
        try await queue.run { () throws(StatusError) in
            guard try self.holds(id) else { return }
            try reporting("remove", Self.name) { () throws(SystemError) in
                let all = try self.root.descriptor.openFolder(Self.name)
                let project = try all.openFolder(self.folderName(id.project))
                try project.moveAside(self.folderName(id.database), to: all)
                try all.removeAsides()
                if try all.removeFolderIfEmpty(self.folderName(id.project)) { try all.synchronize() }
            }
        }
    }

    /// Removes what deletions left that were interrupted.
    package func sweep() async throws(StatusError) {
        try await queue.run { () throws(StatusError) in
            try reporting("remove", Self.name) { () throws(SystemError) in
                guard let all = try self.root.descriptor.openFolderIfPresent(Self.name) else { return }
                try all.removeAsides()
            }
        }
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

    /// Removes everything in this folder that has a temporary name.
    fileprivate func removeAsides() throws(SystemError) {
        var asides: [FolderListing.Entry] = []
        var listing = try openForListing()
        while let entry = try listing.next() {
            if TemporaryName.matches(entry.name) { asides.append(entry) }
        }
        for entry in asides { try removeTree(entry) }
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
