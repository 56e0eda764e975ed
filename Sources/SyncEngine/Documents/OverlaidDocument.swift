internal import DocumentModel

/// A cached document while writes are laid over it.
struct OverlaidDocument {
    let path: DocumentPath
    private(set) var existence: Existence
    private(set) var fields: MapValue
    private(set) var pendingTimestamps: [FieldPath: PendingTimestamp]
    private(set) var createTime: Timestamp?
    private(set) var version: Timestamp?
    private(set) var hasLocalMutations: Bool
    private(set) var hasCommittedMutations: Bool
    /// The fields that the writes have changed.
    private(set) var changedFields: ChangedFields
    /// True if the cached document exists.
    private let isBaseFound: Bool
    /// True if one of the applied writes is an update, or another write that depends on the document.
    private var hasPrecondition = false

    enum Existence {
        case found
        case missing
        case unknown
        case uncached
    }

    enum ChangedFields {
        case all
        case some(Set<FieldPath>)

        fileprivate mutating func insert(_ fields: some Sequence<FieldPath>) {
            guard case .some(var known) = self else { return }
            known.formUnion(fields)
            self = .some(known)
        }
    }

    /// Creates a document without local writes.
    init(_ document: RemoteDocument?, at path: DocumentPath) {
        self.path = path
        (existence, fields, createTime) =
            switch document?.content {
            case .found(let fields, let createTime): (.found, fields, createTime)
            case .missing: (.missing, MapValue(), nil)
            case .unknown: (.unknown, MapValue(), nil)
            case nil: (.uncached, MapValue(), nil)
            }
        isBaseFound = existence == .found
        pendingTimestamps = [:]
        version = document?.version
        hasLocalMutations = false
        hasCommittedMutations = document?.hasCommittedMutations ?? false
        changedFields = .some([])
    }

    /// The document; `nil` if there is none.
    var document: LocalDocument? {
        guard existence == .found else { return nil }
        return LocalDocument(
            path: path,
            fields: fields,
            pendingTimestamps: pendingTimestamps,
            createTime: createTime,
            version: version,
            hasLocalMutations: hasLocalMutations,
            hasCommittedMutations: hasCommittedMutations
        )
    }

    /// The value of a field that an increment starts from.
    func number(at field: FieldPath) -> Value {
        guard existence == .found, let value = fields[field] else { return .integer(0) }
        switch value {
        case .integer, .double: return value
        default: return .integer(0)
        }
    }
}

extension OverlaidDocument {
    /// Lays the net effect of queued writes over a cached document.
    ///
    /// An update of a document that has vanished has no effect, even if its overlay has not been computed anew.
    mutating func apply(_ overlay: Overlay) {
        switch overlay.content {
        case .set(let fields):
            store(fields, pendingTimestamps: overlay.pendingTimestamps)
            changedFields = .all
        case .delete:
            delete()
        case .patch(let fields, let mask):
            guard isBaseFound || !overlay.requiresDocument else { return }
            hasPrecondition = hasPrecondition || overlay.requiresDocument
            let write = Write(path: path, operation: .patch(fields, mask: mask))
            guard let patched = try? write.effect(on: base, at: .minimum) else { return }
            store(patched.fields, pendingTimestamps: overlay.pendingTimestamps)
            changedFields.insert(mask)
        }
    }

    /// Lays the writes of a batch over the document.
    mutating func apply(_ batch: MutationBatch) {
        for base in batch.baseValues where base.path == path && existence == .found {
            fields.set(base.value, at: base.field)
            pendingTimestamps.removeOverlaps(with: base.field)
            changedFields.insert([base.field])
        }
        for write in batch.writes where write.path == path { apply(write, at: batch.localTime) }
    }

    /// Lays a write over the document. A write whose precondition fails has no effect.
    private mutating func apply(_ write: Write, at localTime: Timestamp) {
        guard satisfies(write.precondition) else { return }
        switch write.operation {
        case .verify:
            break
        case .delete:
            delete()
        case .replace, .patch:
            guard let result = try? write.effect(on: base, at: localTime) else { return }
            let pending = pendingTimestamps(after: write, at: localTime)
            var fields = result.fields
            for field in pending.keys { fields.set(.null, at: field) }
            store(fields, pendingTimestamps: pending)
            if write.precondition != .none { hasPrecondition = true }
            if case .patch(_, let mask) = write.operation {
                changedFields.insert(mask)
                changedFields.insert(write.transforms.lazy.map(\.field))
            } else {
                changedFields = .all
            }
        }
    }

    private func satisfies(_ precondition: Precondition) -> Bool {
        switch precondition {
        case .none: true
        case .exists(let exists): (existence == .found) == exists
        case .updateTime(let time): existence == .found && version == time
        }
    }

    private var base: Document? {
        guard existence == .found else { return nil }
        let version = version ?? .minimum
        return Document(path: path, fields: fields, createTime: createTime ?? version, updateTime: version)
    }

    private func pendingTimestamps(after write: Write, at localTime: Timestamp) -> [FieldPath: PendingTimestamp] {
        var pending = pendingTimestamps
        if case .patch(let values, let mask) = write.operation {
            for field in mask {
                if values[field] != nil { pending.removeOverlaps(with: field) } else { pending.removeAll(in: field) }
            }
        } else {
            pending = [:]
        }
        for transform in write.transforms {
            pending.removeOverlaps(with: transform.field)
            guard case .serverTimestamp = transform.operation else { continue }
            pending[transform.field] = PendingTimestamp(
                estimate: localTime.roundedDownToMilliseconds,
                previous: pendingTimestamps[transform.field].map(\.previous) ?? fields[transform.field]
            )
        }
        return pending
    }

    private mutating func store(_ fields: MapValue, pendingTimestamps: [FieldPath: PendingTimestamp]) {
        if existence != .found { createTime = nil }
        existence = .found
        self.fields = fields
        self.pendingTimestamps = pendingTimestamps
        markMutated()
    }

    private mutating func delete() {
        existence = .missing
        fields = MapValue()
        pendingTimestamps = [:]
        changedFields = .all
        markMutated()
    }

    private mutating func markMutated() {
        hasLocalMutations = true
        hasCommittedMutations = false
    }
}

extension OverlaidDocument {
    /// Returns the net effect of the applied writes; `nil` if they have none.
    ///
    /// - Parameter number: The last batch that was applied.
    func overlay(through number: BatchNumber) -> Overlay? {
        guard hasLocalMutations else { return nil }
        switch changedFields {
        case .all:
            let content: Overlay.Content = existence == .found ? .set(fields) : .delete
            return overlay(content, through: number, requiresDocument: false)
        case .some(let changed):
            let mask = mask(of: changed)
            // An empty patch has an effect only if it creates the document.
            guard !mask.isEmpty || !isBaseFound else { return nil }
            let content = Overlay.Content.patch(fields.masked(mask), mask: mask)
            return overlay(content, through: number, requiresDocument: isBaseFound && hasPrecondition)
        }
    }

    private func overlay(_ content: Overlay.Content, through number: BatchNumber, requiresDocument: Bool) -> Overlay {
        Overlay(
            path: path,
            content: content,
            pendingTimestamps: pendingTimestamps,
            batch: number,
            requiresDocument: requiresDocument
        )
    }

    /// Returns the fields of a patch, sorted.
    ///
    /// Setting a field creates its parents, and deleting it later leaves them, so a deleted field is patched with its parent.
    private func mask(of changed: Set<FieldPath>) -> [FieldPath] {
        let patched = changed.map { field in
            guard fields[field] == nil, field.segments.count > 1 else { return field }
            return (try? FieldPath(segments: Array(field.segments.dropLast()))) ?? field
        }
        var mask: [FieldPath] = []
        for field in Set(patched).sorted() where mask.last?.isPrefix(of: field) != true { mask.append(field) }
        return mask
    }
}
