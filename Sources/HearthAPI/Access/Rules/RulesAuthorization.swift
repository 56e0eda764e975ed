import DocumentModel
import DocumentStore
import SecurityRules

/// The authorization of an end user's commits: every write has to be allowed, on the state that the commit changes.
struct RulesAuthorization: CommitAuthorization {
    let gate: RulesGate

    func authorize(
        _ writes: [ProposedWrite],
        at time: Timestamp,
        reading read: (DocumentPath) throws(StatusError) -> Document?
    ) throws(StatusError) {
        let active = try gate.activeRules()
        var session = gate.newSession(operationCount: writes.count)
        var documentsAfter: [DocumentPath: MapValue?] = [:]
        for write in writes { documentsAfter.updateValue(write.after?.fields, forKey: write.write.path) }
        for (index, write) in writes.enumerated() {
            let request = gate.request(write.operation, at: time)
            let decision = try active.ruleset.decide(request, in: &session) { access throws(StatusError) in
                if access.isAfterCommit, let known = documentsAfter[access.path] { return known }
                return try read(access.path)?.fields
            }
            gate.rules.record(decision, of: active, index == writes.count - 1 ? session.coverage : nil)
            guard decision.isAllowed else { throw gate.denial(decision).withWriteIndex(index) }
        }
    }
}

extension ProposedWrite {
    /// The operation, as rules see it. A check of a document that is not written is a read.
    ///
    /// A write with a precondition is what it has to be, as in Firestore's emulator: who may only create documents is told when one
    /// exists already.
    fileprivate var operation: RulesRequest.Operation {
        switch write.operation {
        case .delete: .delete(write.path, stored: before?.fields)
        case .verify: .get(write.path, stored: before?.fields)
        case .replace, .patch:
            isUpdate
                ? .update(write.path, stored: before?.fields, written: after?.fields ?? MapValue())
                : .create(write.path, written: after?.fields ?? MapValue())
        }
    }

    private var isUpdate: Bool {
        switch write.precondition {
        case .exists(let exists): exists
        case .updateTime: true
        case .none: before != nil
        }
    }
}
