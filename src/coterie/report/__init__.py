"""The report room: a result as one plain dict, and the dict as one offline HTML page."""
