internal import DocumentModel
internal import StorageIO

/// Removes the temporary files left in document folders by a crash or a failed removal.
///
/// Reads the names in every folder, but no file contents.
struct TemporaryFileSweep {
    /// The number of removed files.
    private(set) var count = 0
    /// The last failed removal; `nil` if no temporary file is known to be left.
    private(set) var failure: StatusError?

    /// Sweeps a folder and its subfolders. Does not follow links, and ignores foreign files.
    mutating func run(in folder: borrowing FileDescriptor, _ filePath: String, depth: Int = 0) throws(StatusError) {
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return }
        var folders: [String] = []
        do throws(FileSystemError) {
            var temporaries: [String] = []
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                if TemporaryName.matches(entry.name) {
                    temporaries.append(entry.text)
                } else if try folder.kind(of: entry) == .folder {
                    folders.append(entry.text)
                }
            }
            for name in temporaries { remove(name, from: folder, filePath) }
        } catch {
            // Files that are left are harmless, and reported by a check.
            guard error.preventsSingleFileAccess else { throw error.status("remove temporary files from", filePath) }
        }
        for name in folders {
            // A folder whose name is not UTF-8, or that is not accessible, cannot be Hearth's.
            guard let inner = try? folder.openFolder(name) else { continue }
            try run(in: inner, filePath + "/" + name, depth: depth + 1)
        }
    }

    private mutating func remove(_ name: String, from folder: borrowing FileDescriptor, _ filePath: String) {
        do throws(FileSystemError) {
            if try folder.removeFile(name) { count += 1 }
        } catch {
            failure = error.status("remove", filePath + "/" + name)
        }
    }
}
