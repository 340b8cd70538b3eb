# expect: JOB101:3
x = 1
def broken(:
    pass
