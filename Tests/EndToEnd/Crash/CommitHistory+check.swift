import DocumentModel

extension CommitHistory {
    /// Everything about a store that can't be, with this history behind it; empty when all is well.
    func violations(in snapshot: StoreSnapshot) -> [String] {
        let state = certainState()
        return faults + timeViolations() + positionViolations(in: snapshot) + documentViolations(in: snapshot, state)
            + groupViolations(in: snapshot)
    }

    private var uncertain: [(key: Int, value: Attempt)] {
        attempts.filter { $0.value.outcome == .unknown }.sorted { $0.key < $1.key }
    }

    private var acknowledged: [(number: Int, attempt: Attempt, time: Timestamp)] {
        attempts.compactMap { number, attempt in
            guard case .acknowledged(let time) = attempt.outcome else { return nil }
            return (number, attempt, time)
        }.sorted { $0.time < $1.time }
    }

    /// What the acknowledged commits make of the documents, taken alone.
    private func certainState() -> [DocumentPath: Certain] {
        let start = position?.time ?? .minimum
        var state = base.mapValues { Certain(version: $0, since: $0.updateTime) }
        for (_, attempt, time) in acknowledged {
            for write in attempt.writes {
                let version = write.fields.map { StoreSnapshot.Version(fields: $0, updateTime: time) }
                state[write.path] = Certain(version: version, since: time)
            }
        }
        for (_, attempt) in uncertain {
            for write in attempt.writes where state[write.path] == nil {
                state[write.path] = Certain(version: nil, since: start)
            }
        }
        return state
    }
}

// MARK: - Order

extension CommitHistory {
    private func timeViolations() -> [String] {
        zip(acknowledged, acknowledged.dropFirst()).filter { $0.time == $1.time }
            .map { "commits \($0.number) and \($1.number) were both made at \($0.time)" }
    }

    private func positionViolations(in snapshot: StoreSnapshot) -> [String] {
        var violations: [String] = []
        let found = snapshot.position
        if let position, found.epoch != position.epoch {
            violations.append("the history is another one: epoch \(found.epoch), was \(position.epoch)")
        }
        let start = position?.sequence ?? 0
        // A deletion of what isn't there changes nothing, and is no commit.
        let atLeast = start + Int64(acknowledged.count { $0.attempt.writes.contains { $0.fields != nil } })
        let atMost = start + Int64(acknowledged.count + uncertain.count)
        if !(atLeast...atMost).contains(found.sequence) {
            violations.append("the last sequence number is \(found.sequence), expected \(atLeast) to \(atMost)")
        }
        let times =
            acknowledged.filter { $0.attempt.writes.contains { $0.fields != nil } }.map(\.time) + [position?.time ?? .minimum]
        if let last = times.max(), (found.time ?? .minimum) < last {
            violations.append("the last commit time is \(found.time.map { "\($0)" } ?? "none"), before \(last)")
        }
        for (path, version) in snapshot.documents where version.updateTime > found.time ?? .minimum {
            violations.append("\(path) was changed at \(version.updateTime), after the last commit")
        }
        return violations
    }
}

// MARK: - Documents

extension CommitHistory {
    private func documentViolations(in snapshot: StoreSnapshot, _ state: [DocumentPath: Certain]) -> [String] {
        Set(state.keys).union(snapshot.documents.keys).sorted().compactMap { path in
            let found = snapshot.documents[path]
            if found == state[path]?.version { return nil }
            let candidates = uncertain.filter { makes(found, of: path, $0.value, state) }
            if candidates.contains(where: { isWhole($0.value, at: found?.updateTime, in: snapshot, state) }) { return nil }
            let fault = "\(path) is \(Self.text(found)), expected \(Self.text(state[path]?.version))"
            let partly = candidates.map { "\($0.key)" }.joined(separator: ", ")
            return partly.isEmpty ? fault : "\(fault); of commit \(partly), which was never acknowledged, only a part is there"
        }
    }

    /// Whether the attempt, if it counts, may have left the document as it was found.
    private func makes(
        _ found: StoreSnapshot.Version?,
        of path: DocumentPath,
        _ attempt: Attempt,
        _ state: [DocumentPath: Certain]
    ) -> Bool {
        guard let write = attempt.writes.last(where: { $0.path == path }), write.fields == found?.fields else { return false }
        guard let found else { return true }
        return found.updateTime > max(attempt.floor, state[path]?.since ?? .minimum)
    }

    /// Whether all of an attempt is there, but for what later commits have replaced.
    private func isWhole(
        _ attempt: Attempt,
        at time: Timestamp?,
        in snapshot: StoreSnapshot,
        _ state: [DocumentPath: Certain]
    ) -> Bool {
        let after = time ?? attempt.floor
        return attempt.writes.allSatisfy { write in
            let found = snapshot.documents[write.path]
            if found?.fields == write.fields, found == nil || time == nil || found?.updateTime == time { return true }
            if let found { return found.updateTime > after }
            // Deleted, by a later commit or by one of which nobody knows.
            if let certain = state[write.path], certain.version == nil, certain.since > after { return true }
            return uncertain.contains { $0.value.writes.contains { $0.path == write.path && $0.fields == nil } }
        }
    }

    private func groupViolations(in snapshot: StoreSnapshot) -> [String] {
        groups.compactMap { group in
            let found = group.map { snapshot.documents[$0] }
            let numbers = Set(found.map { $0?.fields.commitNumber })
            guard numbers.count > 1 || Set(found.map { $0?.updateTime }).count > 1 else { return nil }
            return "documents that are written together differ: "
                + zip(group, found).map { "\($0) is \(Self.text($1))" }.joined(separator: ", ")
        }
    }

    private static func text(_ version: StoreSnapshot.Version?) -> String {
        guard let version else { return "absent" }
        return "of commit \(version.fields.commitNumber.map { "\($0)" } ?? "?") at \(version.updateTime)"
    }
}
