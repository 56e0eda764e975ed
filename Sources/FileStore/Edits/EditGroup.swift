internal import DocumentModel

/// Edits that become one commit, or none: one edit, or the removal and the creation of a renamed file.
struct EditGroup {
    /// The edits.
    let edits: [FileEdit]

    /// The name of the user who decides whether they are permitted: the owner of the file; `nil` if it is not known.
    var owner: String? { edits.lazy.compactMap(\.owner).first }

    /// Groups edits. Two are a renamed file if one removes a document, and the text of the other one states the times of that document, or
    /// makes a document with the same fields.
    static func groups(of edits: [FileEdit]) -> [EditGroup] {
        var removals: [Source: [(edit: FileEdit, fields: MapValue)]] = [:]
        for edit in edits where edit.contents == nil {
            guard case .known(let document?) = edit.base, let times = edit.base.times, let fields = try? document.decoded().fields
            else { continue }
            for source in [Source.times(times), .fields(fields)] { removals[source, default: []].append((edit, fields)) }
        }
        guard !removals.isEmpty else { return edits.map { EditGroup(edits: [$0]) } }
        var renamed: Set<DocumentPath> = []
        var groups: [EditGroup] = []
        for edit in edits {
            guard let contents = edit.contents else { continue }
            let candidates =
                edit.sources.lazy.map { source in
                    (removals[source] ?? []).filter { !renamed.contains($0.edit.path) }
                }.first { !$0.isEmpty } ?? []
            // Documents of one commit have the same times.
            let removal =
                candidates.first { $0.fields == contents.fields } ?? candidates.first { $0.edit.path.id == edit.path.id }
                ?? (candidates.count == 1 ? candidates.first : nil)
            guard let removal else { continue }
            renamed.formUnion([removal.edit.path, edit.path])
            groups.append(EditGroup(edits: [removal.edit, edit]))
        }
        return groups + edits.filter { !renamed.contains($0.path) }.map { EditGroup(edits: [$0]) }
    }

    /// The key by which a renamed document is recognized.
    fileprivate enum Source: Hashable {
        case times(FileEdit.Times)
        case fields(MapValue)
    }
}

extension FileEdit {
    /// The keys of the documents whose file may have been given this name; none if the file cannot be another document's.
    fileprivate var sources: [EditGroup.Source] {
        guard let contents else { return [] }
        var sources: [EditGroup.Source] = []
        if let times = contents.times, base.times != times { sources.append(.times(times)) }
        // git, for example, writes others.
        if base == .known(nil) { sources.append(.fields(contents.fields)) }
        return sources
    }
}

extension FileEdit.Base {
    fileprivate var times: FileEdit.Times? {
        guard case .known(let document?) = self else { return nil }
        return FileEdit.Times(create: document.createTime, update: document.updateTime)
    }
}
