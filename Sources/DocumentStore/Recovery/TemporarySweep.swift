internal import DocumentModel

/// Removes the temporary files that were left beside documents, by a crash or because they could not be removed before. It looks at
/// names only, in every folder.
struct TemporarySweep {
    /// How many were removed.
    private(set) var count = 0
    /// Why one could not be; nil when none is left, but where it can't be known.
    private(set) var failure: StatusError?

    /// Goes through a folder and all folders in it. Links are not followed, and what is not the store's own stays.
    mutating func run(in folder: borrowing FileDescriptor, _ place: String, depth: Int = 0) throws(StatusError) {
        guard depth <= 2 * DocumentLimits.maximumSubcollectionDepth else { return }
        var folders: [String] = []
        do throws(SystemError) {
            var temporaries: [String] = []
            var listing = try folder.openForListing()
            while let entry = try listing.next() {
                if TemporaryName.matches(entry.name) {
                    temporaries.append(entry.text)
                } else if try folder.kind(of: entry) == .folder {
                    folders.append(entry.text)
                }
            }
            for name in temporaries { remove(name, from: folder, place) }
        } catch {
            // What stays does no harm, and a check names it.
            guard error.forbidsOneFile else { throw error.status("remove temporary files from", place) }
        }
        for name in folders {
            // Names that are not UTF-8 are not ours, nor is what we may not enter.
            guard let inner = try? folder.openFolder(name) else { continue }
            try run(in: inner, place + "/" + name, depth: depth + 1)
        }
    }

    private mutating func remove(_ name: String, from folder: borrowing FileDescriptor, _ place: String) {
        do throws(SystemError) {
            if try folder.removeFile(name) { count += 1 }
        } catch {
            failure = error.status("remove", place + "/" + name)
        }
    }
}
