internal import DocumentModel
internal import GRDB

extension IndexApplier {
    /// Takes what is to be indexed for the documents that are changed from now on; the others follow: ``conform()``.
    mutating func adopt(_ definitions: IndexDefinitions) throws(Obstacle) {
        guard adopted != definitions else { return }
        conforming = nil
        let known = try read { try IndexRuleState.all($0) }
        var states = known
        for collection in Set(known.keys).union(definitions.collections) {
            states[collection, default: IndexRuleState()].aim(at: definitions.rules(of: collection))
        }
        if states != known {
            try write { [states] database, memory in
                for (collection, state) in states { try state.store(collection, database) }
                memory.rules = nil
            }
        }
        rules = states
        adopted = definitions
    }

    /// Gives some documents the entries that they should have; false when all have them.
    mutating func conform() throws(Obstacle) -> Bool {
        guard let collection = conforming?.collection ?? rules.first(where: { !$0.value.isSettled })?.key else { return false }
        var (job, state) = (conforming, rules[collection] ?? IndexRuleState())
        (job, state) = try write { [job, state] database, memory in
            var (job, state) = (try job ?? IndexConforming(collection, &memory.numbers, database), state)
            let writer = try IndexWriter(database)
            guard try !job.step(writer, &memory) else { return (job, state) }
            state.settle()
            try state.store(collection, database)
            memory.rules = nil
            return (nil, state)
        }
        conforming = job
        rules[collection] = state
        return true
    }
}
