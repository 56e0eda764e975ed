extension StatusError {
    /// A read is asked for at a time at which commits may still be made.
    package static func readTimeYetToCome(_ time: Timestamp) -> StatusError {
        StatusError(.invalidArgument, "The read time \(time) is yet to come. Give a time that is past.")
    }
}
