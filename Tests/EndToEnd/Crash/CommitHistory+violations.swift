import DocumentModel

extension CommitHistory {
    /// Returns all differences between a store and the states permitted by this history; empty if there are none.
    func violations(in snapshot: StoreSnapshot) -> [String] {
        let state = acknowledgedState()
        return inconsistencies + timeViolations() + positionViolations(in: snapshot) + documentViolations(in: snapshot, state)
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

    /// The documents according to the acknowledged commits only.
    private func acknowledgedState() -> [DocumentPath: CertainState] {
        let start = position?.time ?? .minimum
        var state = base.mapValues { CertainState(version: $0, since: $0.updateTime) }
        for (_, attempt, time) in acknowledged {
            for write in attempt.writes {
                let version = write.fields.map { StoreSnapshot.Version(fields: $0, updateTime: time) }
                state[write.path] = CertainState(version: version, since: time)
            }
        }
        for (_, attempt) in uncertain {
            for write in attempt.writes where state[write.path] == nil {
                state[write.path] = CertainState(version: nil, since: start)
            }
        }
        return state
    }
}

// MARK: - Order

extension CommitHistory {
    private func timeViolations() -> [String] {
        zip(acknowledged, acknowledged.dropFirst()).filter { $0.time == $1.time }
            .map { "commits \($0.number) and \($1.number) have the same commit time \($0.time)" }
    }

    private func positionViolations(in snapshot: StoreSnapshot) -> [String] {
        var violations: [String] = []
        let found = snapshot.position
        if let position, found.epoch != position.epoch {
            violations.append("the epoch changed from \(position.epoch) to \(found.epoch)")
        }
        let start = position?.sequence ?? 0
        // Deleting a missing document does not create a commit.
        let minimum = start + Int64(acknowledged.count { $0.attempt.writes.contains { $0.fields != nil } })
        let maximum = start + Int64(acknowledged.count + uncertain.count)
        if !(minimum...maximum).contains(found.sequence) {
            violations.append("the last sequence number is \(found.sequence), expected \(minimum) to \(maximum)")
        }
        let times =
            acknowledged.filter { $0.attempt.writes.contains { $0.fields != nil } }.map(\.time) + [position?.time ?? .minimum]
        if let last = times.max(), (found.time ?? .minimum) < last {
            violations.append("the last commit time is \(found.time.map { "\($0)" } ?? "none"), before \(last)")
        }
        for (path, version) in snapshot.documents where version.updateTime > found.time ?? .minimum {
            violations.append("\(path) has the update time \(version.updateTime), after the last commit")
        }
        return violations
    }
}

// MARK: - Documents

extension CommitHistory {
    private func documentViolations(in snapshot: StoreSnapshot, _ state: [DocumentPath: CertainState]) -> [String] {
        Set(state.keys).union(snapshot.documents.keys).sorted().compactMap { path in
            let found = snapshot.documents[path]
            if found == state[path]?.version { return nil }
            let candidates = uncertain.filter { explains(found, of: path, $0.value, state) }
            if candidates.contains(where: { isComplete($0.value, at: found?.updateTime, in: snapshot, state) }) { return nil }
            let violation = "\(path) is \(Self.text(found)), expected \(Self.text(state[path]?.version))"
            let partial = candidates.map { "\($0.key)" }.joined(separator: ", ")
            return partial.isEmpty ? violation : "\(violation); the unacknowledged commit \(partial) is only partially applied"
        }
    }

    /// Returns whether the attempt, if committed, explains the state of the document.
    private func explains(
        _ found: StoreSnapshot.Version?,
        of path: DocumentPath,
        _ attempt: Attempt,
        _ state: [DocumentPath: CertainState]
    ) -> Bool {
        guard let write = attempt.writes.last(where: { $0.path == path }), write.fields == found?.fields else { return false }
        guard let found else { return true }
        return found.updateTime > max(attempt.lowerBound, state[path]?.since ?? .minimum)
    }

    /// Returns whether an attempt is completely applied, except for documents replaced by later commits.
    private func isComplete(
        _ attempt: Attempt,
        at time: Timestamp?,
        in snapshot: StoreSnapshot,
        _ state: [DocumentPath: CertainState]
    ) -> Bool {
        let after = time ?? attempt.lowerBound
        return attempt.writes.allSatisfy { write in
            let found = snapshot.documents[write.path]
            if found?.fields == write.fields, found == nil || time == nil || found?.updateTime == time { return true }
            if let found { return found.updateTime > after }
            // Deleted by a later commit or by an attempt with unknown outcome.
            if let certain = state[write.path], certain.version == nil, certain.since > after { return true }
            return uncertain.contains { $0.value.writes.contains { $0.path == write.path && $0.fields == nil } }
        }
    }

    private func groupViolations(in snapshot: StoreSnapshot) -> [String] {
        groups.compactMap { group in
            let found = group.map { snapshot.documents[$0] }
            let numbers = Set(found.map { $0?.fields.commitNumber })
            guard numbers.count > 1 || Set(found.map { $0?.updateTime }).count > 1 else { return nil }
            return "documents that are only written together differ: "
                + zip(group, found).map { "\($0) is \(Self.text($1))" }.joined(separator: ", ")
        }
    }

    private static func text(_ version: StoreSnapshot.Version?) -> String {
        guard let version else { return "absent" }
        return "of commit \(version.fields.commitNumber.map { "\($0)" } ?? "?") at \(version.updateTime)"
    }
}
