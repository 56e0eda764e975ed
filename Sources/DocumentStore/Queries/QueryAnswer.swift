package import DocumentModel

/// What a query found.
package struct QueryAnswer: Sendable {
    /// The documents in the order of the query, with the fields that it wants.
    package let documents: [EncodedDocument]
    /// The time as of which everything was looked at; the same query at this time gives the same again.
    package let readTime: Timestamp
    /// Documents that could be in the result and can't be read, each with its file. They stay on disk untouched.
    package let damaged: [StatusError]
    /// How they were found.
    package let work: QueryWork

    /// Makes an answer.
    package init(documents: [EncodedDocument], readTime: Timestamp, damaged: [StatusError] = [], work: QueryWork = QueryWork()) {
        self.documents = documents
        self.readTime = readTime
        self.damaged = damaged
        self.work = work
    }
}

/// What the aggregations of a query came to.
package struct AggregationAnswer: Sendable {
    /// The numbers by their names.
    package let results: MapValue
    /// The time as of which everything was looked at.
    package let readTime: Timestamp
    /// Documents that could count and can't be read, each with its file.
    package let damaged: [StatusError]
    /// How the numbers were found.
    package let work: QueryWork

    /// Makes an answer.
    package init(results: MapValue, readTime: Timestamp, damaged: [StatusError] = [], work: QueryWork = QueryWork()) {
        self.results = results
        self.readTime = readTime
        self.damaged = damaged
        self.work = work
    }
}

/// How the result of a query was found, and what that took.
package struct QueryWork: Hashable, Sendable {
    /// The steps, as sentences for people.
    package var plan: [String]
    /// How many rows of the index were looked at.
    package var entriesScanned: Int
    /// How many documents were read.
    package var documentsRead: Int

    /// Makes a description of work.
    package init(plan: [String] = [], entriesScanned: Int = 0, documentsRead: Int = 0) {
        self.plan = plan
        self.entriesScanned = entriesScanned
        self.documentsRead = documentsRead
    }
}
