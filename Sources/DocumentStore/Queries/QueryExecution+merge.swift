internal import DocumentModel

extension QueryExecution {
    /// The names of all documents that may be in the result, in order; nil when there is an alternative whose entries are in no
    /// such order.
    func nameStream(_ walk: QueryWalk) throws(StatusError) -> (any NameStream)? {
        guard alternatives.allSatisfy({ $0.documents != nil || !$0.points.isEmpty }) else { return nil }
        var streams: [any NameStream] = []
        for alternative in alternatives {
            if let paths = alternative.documents {
                streams.append(ListedNames(paths.map { index.names.place(of: $0) }, isDescending: walk.isDescending))
            } else {
                let names = alternative.names.clamped(to: walk.names)
                streams.append(try index.names(in: alternative.points, names, isDescending: walk.isDescending))
            }
            plan.append(alternative.accesses([])[0].text)
        }
        return streams.count == 1 ? streams[0] : UnitedNames(streams, isDescending: walk.isDescending)
    }

    /// Looks at the documents of a stream, in its order.
    func merge(_ stream: any NameStream, _ walk: QueryWalk) throws(StatusError) {
        plan.append("Read and check each in the order of the names" + (query.limit == nil ? "" : " until there are enough"))
        while let name = stream.current, !selection.isFull {
            if let path = index.names.path(name), let found = try find(path) {
                try selection.add(found)
                try selection.endGroup()
            }
            try stream.advance()
        }
    }
}
